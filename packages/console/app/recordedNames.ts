import { exactDuration } from "./format.js"
import type { Client, Json } from "./model.js"
import type { Act, Beginning } from "./recordedActs.js"

/** The reason why an act cannot be recorded exactly. */
export class Unfaithful {
  constructor(readonly why: string) {}
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/

/** Makes a name from a text; `fallback` if no valid character is left. */
const slug = (text: string, fallback: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .match(/[a-z][a-z0-9]*/g)
    ?.at(-1) ?? fallback

export const beforeIt = (ticket: Json): Unfaithful =>
  new Unfaithful(
    `${ticket?.number_label ? `ticket ${ticket.number_label}` : "the ticket"} was created before the recording began`
  )

const distance = (ms: number): string =>
  ms === 0 ? "$now" : `$now ${ms < 0 ? "-" : "+"} ${exactDuration(Math.abs(ms))}`

/** The names in a scenario for ids, phone numbers, keys and instants, because these differ from run to run. */
export class RecordedNames {
  readonly #names = new Map<string, string>()
  readonly #taken = new Set(["shop", "now", "n", "events"])
  readonly #keys = new Map<string, { readonly name: string; readonly scopes: ReadonlyArray<string> }>()
  readonly #clients = new Map<string, { readonly name: string; readonly client: Client }>()
  readonly #cursors = new Map<string, string>()
  /** The tickets whose response of creation was lost. */
  readonly #lost = new Set<string>()
  readonly #onces = new Map<string, string>()
  readonly #begun: Beginning
  /** The instant of `$now`. */
  now: number

  constructor(begun: Beginning) {
    this.#begun = begun
    this.now = begun.at
  }

  /** The keys without all scopes, which the scenario's shop needs too. */
  get keys() {
    return [...this.#keys.values()]
  }

  get clients() {
    return [...this.#clients.values()]
  }

  get hasTickets(): boolean {
    return this.#names.size > 0
  }

  has(id: string): boolean {
    return this.#names.has(id)
  }

  get(id: string): string | undefined {
    return this.#names.get(id)
  }

  /** Records that the response that created this ticket was lost. */
  lose(id: string): void {
    this.#lost.add(id)
  }

  cursor(text: string): string | undefined {
    return this.#cursors.get(text)
  }

  nameCursor(text: string): string {
    const name = this.#free("cursor")
    this.#cursors.set(text, name)
    return name
  }

  /** An Idempotency-Key as the till sent it; the console's own keys are numbered. */
  onceOf(once: string): string {
    if (!once.startsWith("console-")) return once
    const numbered = this.#onces.get(once) ?? `once-${this.#onces.size + 1}`
    this.#onces.set(once, numbered)
    return numbered
  }

  /** The name of a request's key; null if there was none, undefined if it is the default key of scenarios. */
  keyOf({ key, status }: Act): string | null | undefined {
    if (key === undefined) return undefined
    if (status === 401) return key === null ? null : "wk_test_unknown-to-everybody"
    const used = this.#begun.keys.find(({ last_four }) => last_four === key)
    if (used === undefined || used.scopes.length === 4) return undefined
    const named = this.#keys.get(used.id) ?? { name: this.#free(slug(used.name, "key")), scopes: used.scopes }
    this.#keys.set(used.id, named)
    return `$${named.name}`
  }

  #free(wanted: string): string {
    let name = wanted
    for (let n = 2; this.#taken.has(name); n++) name = `${wanted}${n}`
    this.#taken.add(name)
    return name
  }

  /** Gives a new ticket and its items their names. */
  nameTicket(ticket: Json): string {
    const name = this.#free(slug(ticket.item ?? ticket.service, "ticket"))
    this.#names.set(ticket.id, name)
    for (const [i, { id }] of (ticket.items ?? []).entries()) this.#names.set(id, `${name}.items.${i}`)
    return name
  }

  /** The name of a ticket; an unknown id is returned unchanged. */
  ticket(id: string, { response, status }: Act): string {
    const name = this.#names.get(id)
    if (name !== undefined) return `$${name}`
    if (status === 404 || status === 400) return id
    if (this.#lost.has(id)) throw new Unfaithful("the response to its creation was lost, so no step has its id")
    throw beforeIt(response?.data)
  }

  client(id: string, { status }: Act): string {
    const client = this.#begun.clients.find((one) => one.id === id)
    if (client !== undefined) return `$${this.#given(client)}`
    if (status === 404 || status === 400) return id
    throw new Unfaithful("the client's account was created after the recording began")
  }

  /** Refuses an act on a card from before the recording, because its stamps would be missing in the scenario. */
  refuseOldCard(id: string): void {
    const client = this.#begun.clients.find((one) => one.id === id)
    if ((client?.card?.balance ?? 0) > 0)
      throw new Unfaithful(`${client?.display_name} had ${client?.card?.balance} stamps before the recording began`)
  }

  phone(text: string): string {
    const client = this.#begun.clients.find(({ phone }) => phone === text)
    return client === undefined ? text : `$${this.#given(client)}.phone`
  }

  #given(client: Client): string {
    if (client.blocked) throw new Unfaithful(`${client.display_name} blocked the shop before the recording began`)
    const named = this.#clients.get(client.id) ?? {
      name: this.#free(slug(client.display_name.split(" ")[0] ?? "", "client")),
      client
    }
    this.#clients.set(client.id, named)
    return named.name
  }

  text(value: string, field: string): string {
    const name = this.#names.get(value)
    if (name !== undefined) return `$${name}.id`
    const client = this.#begun.clients.find(({ id }) => id === value)
    if (client !== undefined) return `$${this.#given(client)}.id`
    if (/phone$/.test(field)) return this.phone(value)
    if (INSTANT.test(value)) return distance(Date.parse(value) - this.now)
    if (value.includes("${"))
      throw new Unfaithful(`the text "${value}" contains $ and {, which begin a reference in scenarios`)
    return value.startsWith("$") ? `$${value}` : value
  }

  /** A body with names in place of the values that differ from run to run. */
  // biome-ignore lint/suspicious/noExplicitAny: a body may be anything
  said(value: unknown, field = ""): any {
    if (typeof value === "string") return this.text(value, field)
    if (Array.isArray(value)) return value.map((one) => this.said(one, field))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.said(one, name)]))
  }

  asserted(path: string, value: Json): Json {
    if (typeof value !== "string") return value
    const plain = /phone$/.test(path) ? this.phone(value) : value
    return plain === value && /^[$/<>]/.test(value) ? `$${value}` : plain
  }
}
