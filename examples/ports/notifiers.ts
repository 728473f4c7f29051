import type { ClientNotification, NoticeRecord } from "@workshop/core"

/**
 * Notifies a client. If it rejects, the service calls it again with the same notification after the
 * delays of the retry table (Specification, States).
 */
export type ClientNotifier = (notification: ClientNotification) => Promise<void>

/**
 * The contact data of a client in your own records. A walk-in has no account, so only the number on the ticket is
 * known.
 */
export interface Contact {
  readonly mail?: string
  readonly pushToken?: string
  readonly whatsapp?: string
}

/**
 * Makes a POST of JSON. The provider drops a request whose idempotency key it has seen, because the
 * service repeats a notification after a crash.
 */
export type Post = (url: string, body: unknown, idempotency_key: string) => Promise<void>

/** A {@link Post} over `fetch`, for a provider with bearer tokens. */
export const postWith =
  (token: string): Post =>
  async (url, body, idempotency_key) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": idempotency_key
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(8_000)
    })
    if (!response.ok) throw new Error(`The provider responded with ${response.status}`)
  }

const words = { "ticket.ready": "is ready for you", "ticket.impossible": "cannot be done, sorry: please pick it up" }
const textOf = ({ type, ticket }: ClientNotification): string => `${ticket.item ?? ticket.service} ${words[type]}.`

/** Notifies by mail, through a provider's HTTP API. */
export const byMail =
  (post: Post, url: string): ((to: string) => ClientNotifier) =>
  (to) =>
  (notification) =>
    post(
      url,
      { to, subject: `Ticket ${notification.ticket.number_label}`, text: textOf(notification) },
      notification.id
    )

/** Notifies by push to the client's own app. */
export const byPush =
  (post: Post, url: string): ((to: string) => ClientNotifier) =>
  (to) =>
  (notification) =>
    post(url, { token: to, body: textOf(notification), data: { ticket: notification.ticket_id } }, notification.id)

/**
 * Notifies by WhatsApp with a template of two texts, because a shop may not begin a conversation with a free text
 * there.
 */
export const byWhatsApp =
  (post: Post, url: string): ((to: string) => ClientNotifier) =>
  (to) =>
  (notification) => {
    const { ticket, type } = notification
    const parameters = [ticket.number_label, words[type]].map((text) => ({ type: "text", text }))
    const template = { name: "ticket_news", language: { code: "en" }, components: [{ type: "body", parameters }] }
    return post(url, { messaging_product: "whatsapp", to, type: "template", template }, notification.id)
  }

/**
 * Notifies by the first channel that reaches the client. A client whom no channel reaches finds the
 * notification in the app's inbox.
 */
export const firstOf =
  (
    contactOf: (client_id: string) => Promise<Contact>,
    ways: { readonly [K in keyof Contact]-?: (to: string) => ClientNotifier }
  ): ClientNotifier =>
  async (notification) => {
    const { client_id, phone } = notification
    const contact = client_id === null ? (phone && { whatsapp: phone.slice(1) }) || {} : await contactOf(client_id)
    for (const way of ["pushToken", "whatsapp", "mail"] as const) {
      const to = contact[way]
      if (to !== undefined) return ways[way](to)(notification)
    }
  }

/** Notifies the owner of a failing webhook by mail. */
export const ownerByMail =
  (post: Post, url: string, mailOf: (shop_id: string) => Promise<string>) =>
  async ({ id, shop_id, kind, url: webhook, failures_in_row }: NoticeRecord): Promise<void> => {
    const subject = kind === "webhook_off" ? "Your webhook was turned off" : "Your webhook keeps failing"
    const text = `${new URL(webhook).host} failed ${failures_in_row} times in a row.`
    await post(url, { to: await mailOf(shop_id), subject, text }, id)
  }
