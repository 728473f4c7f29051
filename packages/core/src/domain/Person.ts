import type { ClientBadge } from "./Client.js"
import type { ClientId } from "./Identifier.js"
import { numberParts, type Phone } from "./Phone.js"

/** A person to search for: a client's id, names and numbers. */
export interface Person {
  /** The client's account. */
  readonly client_id: ClientId
  /** The given name and the family name. */
  readonly names: ReadonlyArray<string>
  /** The phone numbers in E.164 by which the person is searched. */
  readonly phones: ReadonlyArray<Phone>
}

/** The text that replaces an erased name or number. */
export const ERASED = "[erased]"

// The separators between two digits of a number: at most three characters in a row.
const BETWEEN = "[ .()/\\u00a0-]{0,3}"

const spaceDigits = (digits: string): string => [...digits].join(BETWEEN)

/** Matches every way to write a number: in E.164, with 00, or as it is dialled within its country, with separators between its digits. */
const numberPattern = (phone: Phone): RegExp => {
  const { calling_code, national } = numberParts(phone)
  const country = `(?:(?:\\+|00)${BETWEEN}${spaceDigits(calling_code)}${BETWEEN})?(?:\\(?0\\)?${BETWEEN})?`
  return new RegExp(`(?<![0-9])${country}${spaceDigits(national)}(?![0-9])`, "g")
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")

/** Matches a name as whole words, in any case, with composed or decomposed accents, and any white space between its parts. */
const namePattern = (name: string): RegExp => {
  const spellings = (["NFC", "NFD"] as const).map((form) =>
    name.normalize(form).split(/\s+/).map(escapeRegExp).join("\\s+")
  )
  const names = [...new Set(spellings)].join("|")
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${names})(?![\\p{L}\\p{N}])`, "giu")
}

/**
 * Returns a function that erases a person's names and numbers from texts, except names of one character, which occur
 * everywhere.
 */
export const makeEraser = ({ names, phones }: Person): ((text: string) => string) => {
  const patterns = [...phones.map(numberPattern), ...names.filter((name) => [...name].length > 1).map(namePattern)]
  return (text) => patterns.reduce((rest, pattern) => rest.replace(pattern, ERASED), text)
}

/** The texts that people wrote on a ticket, stored or returned. */
interface TicketTexts {
  readonly service: string
  readonly item: string | null
  readonly description: string | null
  readonly items: ReadonlyArray<{ readonly label: string; readonly service: string | null }>
  readonly quote: { readonly note: string | null } | null
  readonly delay: { readonly reason: string | null } | null
  readonly part: { readonly label: string } | null
  readonly client_phone: string | null
  readonly photo_url: string | null
  readonly external_ref: string | null
}

/**
 * Erases a person from a ticket. If the ticket is theirs, the number, the picture and all notes are removed. From texts
 * that the shop's books need (service, item, labels, the caller's reference), and from tickets of others, only the
 * person's names and numbers are removed.
 */
export const eraseFromTicket = <T extends TicketTexts>(person: Person, ticket: T, isTheirs: boolean): T => {
  const erase = makeEraser(person)
  const eraseText = (value: string | null) => (value === null ? null : erase(value))
  const eraseNote = (value: string | null) => (isTheirs ? null : eraseText(value))
  const isTheirNumber = person.phones.some((phone) => phone === ticket.client_phone)
  return {
    ...ticket,
    service: erase(ticket.service),
    item: eraseText(ticket.item),
    description: eraseNote(ticket.description),
    items: ticket.items.map((item) => ({ ...item, label: erase(item.label), service: eraseText(item.service) })),
    quote: ticket.quote && { ...ticket.quote, note: eraseNote(ticket.quote.note) },
    delay: ticket.delay && { ...ticket.delay, reason: eraseNote(ticket.delay.reason) },
    part: ticket.part && { ...ticket.part, label: erase(ticket.part.label) },
    client_phone: isTheirs || isTheirNumber ? null : ticket.client_phone,
    photo_url: eraseNote(ticket.photo_url),
    external_ref: eraseText(ticket.external_ref)
  }
}

type TicketViewTexts = TicketTexts & { readonly client: ClientBadge | null }

/** The client's badge without the name; the id stays as a pseudonym. */
const eraseFromBadge = ({ client_id }: Person, badge: ClientBadge): ClientBadge =>
  badge.id === client_id ? { id: badge.id, display_name: null } : badge

/** Whether a ticket that had this client may be the person's. */
const isOf = ({ client_id }: Person, client: ClientBadge | null): boolean => client === null || client.id === client_id

/**
 * Erases a person from a ticket in a stored response or event. The ticket counts as theirs unless it had another
 * client.
 */
export const eraseFromTicketView = <T extends TicketViewTexts>(person: Person, ticket: T): T => {
  const isTheirs = isOf(person, ticket.client)
  const client = ticket.client && eraseFromBadge(person, ticket.client)
  return { ...eraseFromTicket(person, ticket, isTheirs), client }
}

/** Erases a person from the text of an event, and changes nothing else. */
export const eraseFromEventBody = (person: Person, body: string): string => {
  const erase = makeEraser(person)
  const event = JSON.parse(body)
  const { ticket, client, quote } = event.data
  const isTheirs = isOf(person, ticket?.client ?? null)
  const data = {
    ...event.data,
    ...(ticket && { ticket: eraseFromTicketView(person, ticket) }),
    ...(client && { client: eraseFromBadge(person, client) }),
    ...(quote && { quote: { ...quote, note: isTheirs || quote.note === null ? null : erase(quote.note) } })
  }
  return JSON.stringify({ ...event, data })
}
