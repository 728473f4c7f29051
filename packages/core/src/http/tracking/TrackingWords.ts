import { DAY_MS } from "../../domain/Instant.js"
import { Limits } from "../../domain/Limits.js"
import type { NotifiedChannel, TicketType } from "../../domain/Ticket.js"
import type { AbandonReason } from "../../domain/TicketLifecycle.js"
import type { TrackingStep } from "../../domain/TrackingView.js"
import type { TrackingLanguage } from "./TrackingLanguage.js"

/** A heading of a ticket's page, and a sentence below it. */
export interface TrackingNotice {
  /** The heading, as plain text. */
  readonly title: string
  /** The sentence below the heading, as plain text. */
  readonly text: string
}

/** Words that differ between a repair and an order. */
export type ByTicketType<A> = Readonly<Record<TicketType, A>>

/** All words of a ticket's page in one language. Dates in them are formatted for the shop's time zone. */
export interface TrackingWords {
  /** The direction of writing, for the attribute `dir` of the page. */
  readonly direction: "ltr" | "rtl"
  /** The heading of the page, by the ticket's state; for a closed ticket, by the reason why it was closed. */
  readonly states: {
    readonly workshop: ByTicketType<TrackingNotice>
    readonly ready: ByTicketType<TrackingNotice>
    readonly impossible: ByTicketType<TrackingNotice>
    readonly collected: ByTicketType<TrackingNotice>
    readonly abandoned: Readonly<Record<AbandonReason, TrackingNotice>>
  }
  /** The names of the steps in the list of steps. */
  readonly steps: ByTicketType<Readonly<Record<TrackingStep["step"], string>>>
  /** How screen readers name the progress of a step. */
  readonly progress: Readonly<Record<TrackingStep["progress"], string>>
  /** The heading of the list of steps. */
  readonly progress_title: string
  /** The heading of the details: dates, prices and notifications. */
  readonly details_title: string
  /** The label of the promised date. */
  readonly promised_at: string
  /** The notice of a delay. `before` is its sentence about `date`, the date that was promised before. */
  readonly delay: TrackingNotice & { readonly before: (date: string) => string }
  /** The sentences about a part that the workshop ordered; those with a date are used if the date is known. */
  readonly part: {
    readonly ordered: string
    readonly received: string
    readonly expected_at: (date: string) => string
    readonly received_at: (date: string) => string
  }
  /** The label of the price. */
  readonly price: string
  /** The label of the deposit. */
  readonly deposit: string
  /** The label of the amount that remains to be paid. */
  readonly remaining: string
  /** The label of the time at which the client was notified. */
  readonly notified: string
  /** The names of the ways to notify a client. */
  readonly channels: Readonly<Record<NotifiedChannel, string>>
  /** The label of the ticket's number. */
  readonly ticket: string
  /** The label of the tracking code. */
  readonly code: string
  /** The label of the time of the last change. */
  readonly updated_at: string
  /** The text between a label and its value. */
  readonly colon: string
  /** The page for a tracking code that no ticket has, a 404. */
  readonly not_found: TrackingNotice
  /** The page for an address with too many requests, a 429. */
  readonly too_many: TrackingNotice
  /** The page while the store is unavailable, a 503. */
  readonly unavailable: TrackingNotice
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
