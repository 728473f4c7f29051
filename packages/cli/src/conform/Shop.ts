import type { Answer } from "./Answer.js"
import type { Inbox } from "./Inbox.js"
import type { Client, Delivery, Event, Ticket, Webhook } from "./Shapes.js"
import type { Call } from "./Wire.js"

/** A client's account. */
export interface Person {
  readonly id: string
  readonly phone: string
}

/** A loyalty programme with which every ticket counts. */
const PROGRAM = { active: true, name: "Stamps", stamps_required: 10, stamps_per_ticket: 1, reward_label: "A hem" }

/** What a shop needs of the world around it. */
export interface Surroundings {
  readonly api: <D>(method: string, path: string, call?: Call) => Promise<Answer<D>>
  readonly sandbox: <D>(method: string, path: string, body?: unknown) => Promise<Answer<D>>
  readonly act: <D>(method: string, path: string, body?: unknown) => Promise<D>
  readonly fresh: (prefix: string) => string
  readonly person: (person?: Readonly<Record<string, unknown>>) => Promise<Person>
  readonly answerOffer: (person: Person, how: "accept" | "block") => Promise<void>
  readonly advance: (ms: number) => Promise<void>
}

/** A shop, as its till speaks to the API with one key and as the sandbox shows it. */
export class Shop {
  readonly world: Surroundings
  readonly id: string
  readonly key: string
  readonly key_id: string

  constructor(world: Surroundings, made: { readonly id: string; readonly key: string; readonly key_id: string }) {
    this.world = world
    this.id = made.id
    this.key = made.key
    this.key_id = made.key_id
  }

  /** `GET` below `/v1`. */
  get<D>(path: string, call: Call = {}): Promise<Answer<D>> {
    return this.world.api("GET", `/v1${path}`, { bearer: this.key, ...call })
  }

  /** `POST` below `/v1`. */
  post<D>(path: string, body?: unknown, call: Call = {}): Promise<Answer<D>> {
    return this.world.api("POST", `/v1${path}`, { bearer: this.key, body, ...call })
  }

  /** Asks for a ticket, under a new Idempotency-Key unless one is given. */
  create(body: Readonly<Record<string, unknown>> = {}, call: Call = {}): Promise<Answer<Ticket>> {
    return this.post("/tickets", { service: "Hem", ...body }, { once: this.world.fresh("attempt"), ...call })
  }

  /** A new ticket. */
  async ticket(body: Readonly<Record<string, unknown>> = {}): Promise<Ticket> {
    return (await this.create(body)).ok(201)
  }

  /** A ticket as it stands. */
  async read(id: string): Promise<Ticket> {
    return (await this.get<Ticket>(`/tickets/${id}`)).ok()
  }

  /** Asks for a status. */
  status(id: string, status: string): Promise<Answer<Ticket>> {
    return this.post(`/tickets/${id}/status`, { status })
  }

  /** A new ticket, moved through the given statuses. */
  async moved(...statuses: ReadonlyArray<string>): Promise<Ticket> {
    let ticket = await this.ticket()
    for (const status of statuses) ticket = (await this.status(ticket.id, status)).ok()
    return ticket
  }

  /** Records that the shop told the client itself. */
  notified(id: string, channel = "sms"): Promise<Answer<Ticket>> {
    return this.post(`/tickets/${id}/notified`, { channel })
  }

  /** Adds stamps. */
  stamps<D>({ id }: { readonly id: string }, count: unknown, call: Call = {}): Promise<Answer<D>> {
    return this.post(`/clients/${id}/loyalty/stamps`, { count }, { once: this.world.fresh("stamps"), ...call })
  }

  /** Uses a reward. */
  redeem<D>({ id }: { readonly id: string }, call: Call = {}): Promise<Answer<D>> {
    return this.post(`/clients/${id}/loyalty/redeem`, undefined, { once: this.world.fresh("redeem"), ...call })
  }

  /** Looks a client up by their number. */
  lookUp(phone: string): Promise<Answer<Client>> {
    return this.get(`/clients?phone=${encodeURIComponent(phone)}`)
  }

  /** Changes the shop's settings in the sandbox. */
  async set(patch: Readonly<Record<string, unknown>>): Promise<this> {
    await this.world.act("PATCH", `/shops/${this.id}`, patch)
    return this
  }

  /** Switches the loyalty programme on. */
  program(patch: Readonly<Record<string, unknown>> = {}): Promise<this> {
    return this.set({ program: { ...PROGRAM, ...patch } })
  }

  /** The same shop through a new key. */
  async with(rights: Readonly<Record<string, unknown>>): Promise<Shop> {
    const input = { name: "Another", ...rights }
    const made = await this.world.act<{ id: string; key: string }>("POST", `/shops/${this.id}/keys`, input)
    return new Shop(this.world, { id: this.id, key: made.key, key_id: made.id })
  }

  /** A client whom the shop knows from its counter. */
  async known(person: Readonly<Record<string, unknown>> = {}): Promise<Person> {
    const client = await this.world.person(person)
    await this.world.act("POST", `/clients/${client.id}/visits`, { shop_id: this.id })
    return client
  }

  /** A client who knew the shop, and blocks it. */
  async blocker(): Promise<Person> {
    const client = await this.known()
    await this.ticket({ client_phone: client.phone })
    await this.world.answerOffer(client, "block")
    return client
  }

  /** A ticket made in the app. */
  app(body: Readonly<Record<string, unknown>> = {}): Promise<Answer<Ticket>> {
    return this.world.sandbox("POST", `/shops/${this.id}/tickets`, { service: "Hem", ...body })
  }

  /** The shop's events, oldest first. */
  events(): Promise<ReadonlyArray<Event>> {
    return this.world.act("GET", `/shops/${this.id}/events`)
  }

  /** The types of the shop's events, oldest first. */
  async types(): Promise<ReadonlyArray<string>> {
    return (await this.events()).map(({ type }) => type)
  }

  /** Points the shop's webhook at a receiver; answers its secret. */
  async sendTo(inbox: Inbox): Promise<string> {
    const set = await this.world.act<{ secret: string }>("PUT", `/shops/${this.id}/webhook`, { url: inbox.url })
    return set.secret
  }

  /** The state of the shop's webhook. */
  webhook(): Promise<Webhook> {
    return this.world.act("GET", `/shops/${this.id}/webhook`)
  }

  /** The deliveries of the shop's events, oldest event first. */
  deliveries(): Promise<ReadonlyArray<Delivery>> {
    return this.world.act("GET", `/shops/${this.id}/deliveries`)
  }
}
