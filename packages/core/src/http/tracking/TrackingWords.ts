import { DAY_MS } from "../../domain/Instant.js"
import { Limits } from "../../domain/Limits.js"
import type { NotifiedChannel, TicketType } from "../../domain/Ticket.js"
import type { AbandonReason } from "../../domain/TicketLifecycle.js"
import type { TrackingStep } from "../../domain/TrackingView.js"
import type { TrackingLanguage } from "./TrackingLanguage.js"

/** A heading, and a sentence below it. */
interface Notice {
  readonly title: string
  readonly text: string
}

type OfType<A> = Readonly<Record<TicketType, A>>

/** All words of a ticket's page. */
export interface TrackingWords {
  readonly direction: "ltr" | "rtl"
  readonly states: {
    readonly workshop: OfType<Notice>
    readonly ready: OfType<Notice>
    readonly impossible: OfType<Notice>
    readonly collected: OfType<Notice>
    readonly abandoned: Readonly<Record<AbandonReason, Notice>>
  }
  readonly steps: OfType<Readonly<Record<TrackingStep["step"], string>>>
  readonly progress: Readonly<Record<TrackingStep["progress"], string>>
  readonly progress_title: string
  readonly details_title: string
  readonly promised_at: string
  /** `date` is the previously promised date. */
  readonly delay: Notice & { readonly before: (date: string) => string }
  readonly part: {
    readonly ordered: string
    readonly received: string
    readonly expected_at: (date: string) => string
    readonly received_at: (date: string) => string
  }
  readonly price: string
  readonly deposit: string
  readonly remaining: string
  readonly notified: string
  readonly channels: Readonly<Record<NotifiedChannel, string>>
  readonly ticket: string
  readonly code: string
  readonly updated_at: string
  /** The text between a label and its value. */
  readonly colon: string
  readonly not_found: Notice
  readonly too_many: Notice
  readonly unavailable: Notice
}

const DAYS = Limits.closure_ms / DAY_MS

const english: TrackingWords = {
  direction: "ltr",
  states: {
    workshop: {
      repair: { title: "In the workshop", text: "We are working on it." },
      prepare: { title: "Being prepared", text: "We are preparing your order." }
    },
    ready: {
      repair: { title: "Ready", text: "You can come and collect it." },
      prepare: { title: "Ready", text: "You can come and collect your order." }
    },
    impossible: {
      repair: { title: "Not possible", text: "It could not be repaired. It is waiting for you at the shop." },
      prepare: { title: "Not possible", text: "Your order could not be prepared. Please ask the shop." }
    },
    collected: {
      repair: { title: "Collected", text: "Thank you, and see you soon." },
      prepare: { title: "Collected", text: "Thank you, and see you soon." }
    },
    abandoned: {
      uncollected: {
        title: "Closed",
        text: `It was ready, but was not collected for ${DAYS} days. Please ask the shop.`
      },
      no_news: { title: "Closed", text: `The shop gave no news for ${DAYS} days. Please ask the shop.` }
    }
  },
  steps: {
    repair: {
      received: "Received",
      workshop: "In the workshop",
      ready: "Ready",
      impossible: "Not possible",
      collected: "Collected",
      abandoned: "Closed"
    },
    prepare: {
      received: "Ordered",
      workshop: "Being prepared",
      ready: "Ready",
      impossible: "Not possible",
      collected: "Collected",
      abandoned: "Closed"
    }
  },
  progress: { done: "done", current: "now", upcoming: "to come" },
  progress_title: "Progress",
  details_title: "Details",
  promised_at: "Promised for",
  delay: { title: "Delayed", text: "The promised date has changed.", before: (date) => `It was promised for ${date}.` },
  part: {
    ordered: "Waiting for a part",
    received: "The part has arrived",
    expected_at: (date) => `Expected on ${date}`,
    received_at: (date) => `Arrived on ${date}`
  },
  price: "Price",
  deposit: "Deposit paid",
  remaining: "Left to pay",
  notified: "You were notified",
  channels: { app: "in the app", sms: "by SMS", whatsapp: "by WhatsApp", call: "by phone" },
  ticket: "Ticket",
  code: "Code",
  updated_at: "Last change",
  colon: ": ",
  not_found: {
    title: "No such ticket",
    text: "Check the code on your receipt, or ask the shop. Tickets that ended long ago are no longer shown."
  },
  too_many: { title: "Too many tries", text: "Please try again in a minute." },
  unavailable: { title: "Not available right now", text: "Please try again in a moment." }
}

const french: TrackingWords = {
  direction: "ltr",
  states: {
    workshop: {
      repair: { title: "À l’atelier", text: "Nous y travaillons." },
      prepare: { title: "En préparation", text: "Nous préparons votre commande." }
    },
    ready: {
      repair: { title: "C’est prêt", text: "Vous pouvez venir le chercher." },
      prepare: { title: "C’est prêt", text: "Vous pouvez venir chercher votre commande." }
    },
    impossible: {
      repair: {
        title: "Pas possible",
        text: "La réparation n’a pas pu être faite. Votre article vous attend en boutique."
      },
      prepare: { title: "Pas possible", text: "Votre commande n’a pas pu être préparée. Demandez à la boutique." }
    },
    collected: {
      repair: { title: "Récupéré", text: "Merci, et à bientôt." },
      prepare: { title: "Récupérée", text: "Merci, et à bientôt." }
    },
    abandoned: {
      uncollected: {
        title: "Clôturé",
        text: `C’était prêt, mais personne n’est venu pendant ${DAYS} jours. Demandez à la boutique.`
      },
      no_news: {
        title: "Clôturé",
        text: `La boutique n’a pas donné de nouvelles pendant ${DAYS} jours. Demandez à la boutique.`
      }
    }
  },
  steps: {
    repair: {
      received: "Reçu",
      workshop: "À l’atelier",
      ready: "Prêt",
      impossible: "Pas possible",
      collected: "Récupéré",
      abandoned: "Clôturé"
    },
    prepare: {
      received: "Commandé",
      workshop: "En préparation",
      ready: "Prêt",
      impossible: "Pas possible",
      collected: "Récupéré",
      abandoned: "Clôturé"
    }
  },
  progress: { done: "fait", current: "en cours", upcoming: "à venir" },
  progress_title: "Avancement",
  details_title: "Détails",
  promised_at: "Promis pour le",
  delay: {
    title: "Retardé",
    text: "La date promise a changé.",
    before: (date) => `C’était promis pour le ${date}.`
  },
  part: {
    ordered: "En attente d’une pièce",
    received: "La pièce est arrivée",
    expected_at: (date) => `Attendue le ${date}`,
    received_at: (date) => `Arrivée le ${date}`
  },
  price: "Prix",
  deposit: "Acompte versé",
  remaining: "Reste à payer",
  notified: "Vous avez été prévenu",
  channels: { app: "dans l’application", sms: "par SMS", whatsapp: "par WhatsApp", call: "par téléphone" },
  ticket: "Ticket",
  code: "Code",
  updated_at: "Dernière mise à jour",
  colon: "\u00a0: ",
  not_found: {
    title: "Ticket introuvable",
    text: "Vérifiez le code sur votre reçu, ou demandez à la boutique. Les tickets terminés depuis longtemps ne sont plus affichés."
  },
  too_many: { title: "Trop d’essais", text: "Réessayez dans une minute." },
  unavailable: { title: "Indisponible pour le moment", text: "Réessayez dans un instant." }
}

const arabic: TrackingWords = {
  direction: "rtl",
  states: {
    workshop: {
      repair: { title: "في الورشة", text: "نحن نعمل عليه الآن." },
      prepare: { title: "قيد التحضير", text: "نحن نحضّر طلبكم." }
    },
    ready: {
      repair: { title: "جاهز", text: "يمكنكم الحضور لاستلامه." },
      prepare: { title: "جاهز", text: "يمكنكم الحضور لاستلام طلبكم." }
    },
    impossible: {
      repair: { title: "غير ممكن", text: "تعذّر الإصلاح. غرضكم في انتظاركم في المحل." },
      prepare: { title: "غير ممكن", text: "تعذّر تحضير طلبكم. يرجى سؤال المحل." }
    },
    collected: {
      repair: { title: "تم الاستلام", text: "شكرًا لكم وإلى اللقاء." },
      prepare: { title: "تم الاستلام", text: "شكرًا لكم وإلى اللقاء." }
    },
    abandoned: {
      uncollected: { title: "مغلق", text: `كان جاهزًا ولم يستلمه أحد خلال ${DAYS} يومًا. يرجى سؤال المحل.` },
      no_news: { title: "مغلق", text: `لم يصل أي خبر من المحل خلال ${DAYS} يومًا. يرجى سؤال المحل.` }
    }
  },
  steps: {
    repair: {
      received: "تم التسليم للمحل",
      workshop: "في الورشة",
      ready: "جاهز",
      impossible: "غير ممكن",
      collected: "الاستلام",
      abandoned: "مغلق"
    },
    prepare: {
      received: "تم الطلب",
      workshop: "قيد التحضير",
      ready: "جاهز",
      impossible: "غير ممكن",
      collected: "الاستلام",
      abandoned: "مغلق"
    }
  },
  progress: { done: "تم", current: "الآن", upcoming: "لاحقًا" },
  progress_title: "المراحل",
  details_title: "التفاصيل",
  promised_at: "الموعد",
  delay: { title: "تأخير", text: "تغيّر الموعد.", before: (date) => `كان الموعد ${date}.` },
  part: {
    ordered: "في انتظار قطعة",
    received: "وصلت القطعة",
    expected_at: (date) => `يُنتظر وصولها ${date}`,
    received_at: (date) => `وصلت ${date}`
  },
  price: "السعر",
  deposit: "العربون المدفوع",
  remaining: "الباقي للدفع",
  notified: "تم إعلامكم",
  channels: { app: "في التطبيق", sms: "برسالة قصيرة", whatsapp: "عبر واتساب", call: "بالهاتف" },
  ticket: "التذكرة",
  code: "الرمز",
  updated_at: "آخر تغيير",
  colon: ": ",
  not_found: {
    title: "لا توجد تذكرة بهذا الرمز",
    text: "تحققوا من الرمز المكتوب على الوصل، أو اسألوا المحل. التذاكر المنتهية منذ مدة لا تُعرض."
  },
  too_many: { title: "محاولات كثيرة", text: "يرجى المحاولة مجددًا بعد دقيقة." },
  unavailable: { title: "غير متاح الآن", text: "يرجى المحاولة مجددًا بعد قليل." }
}

/** The words of a ticket's page in each language. The type requires all words of every language. */
export const trackingWords: Readonly<Record<TrackingLanguage, TrackingWords>> = {
  en: english,
  fr: french,
  ar: arabic
}
