import { Data } from "effect"
import type { Api, CallOptions } from "../testkit/Api.js"
import type { Reply } from "../testkit/Receiver.js"
import type { Card, Client, Delivery, Event, Ticket, Webhook } from "../testkit/Shapes.js"
import { SECOND } from "../testkit/Time.js"
import { TestResponse } from "./Expectations.js"
import type { Inbox, Inboxes } from "./Inboxes.js"

/** An id that nothing has. */
export const NOBODY = "01890000-0000-7000-8000-000000000000"

/** The sandbox did not do what the case needs, so the case cannot tell. */
export class SandboxRefused extends Data.TaggedError("SandboxRefused")<{
  readonly call: string
  readonly answer: string
}> {
  override get message() {
    return `The sandbox call ${this.call} (Specification, Sandbox) was answered with ${this.answer}`
  }
}

/** Webhooks cannot reach this machine, so the case cannot tell. */
export class CannotReceive extends Data.TaggedError("CannotReceive")<{}> {}

/** What an environment is made of: the server, its sandbox where there is one, and names that nobody has used yet. */
interface Means {
  readonly api: Api
  /** Null where webhooks cannot come here. */
  readonly inboxes: Inboxes | null
  /** The key to use where there is no sandbox. */
  readonly key: string | undefined
  /** Text that no other run has. */
  readonly run: string
  /** A number that no other call gets. */
  readonly next: () => number
  /** Waits, in real time. */
  readonly pause: (ms: number) => Promise<void>
}

type Fields = Readonly<Record<string, unknown>>

const MAX_TRIES = 3

/** Where a case acts: through the API, and through the sandbox as the app, the owner, the client and the clock. */
export class Environment {
  readonly #means: Means
  readonly #opened: Array<Inbox> = []

  constructor(means: Means) {
    this.#means = means
  }

  /** A request to the API, by its path below the base. On the shop of a real key it waits where a limit says so. */
  async api<D>(method: string, path: string, options: CallOptions = {}): Promise<TestResponse<D>> {
    const { api, key, pause } = this.#means
    for (let tries = 1; ; tries++) {
      const answer = new TestResponse<D>(await api.send(method, path, options))
      if (key === undefined || answer.status !== 429 || tries >= MAX_TRIES) return answer
      await pause(Number(answer.header("ratelimit-reset") ?? "60") * SECOND)
    }
  }

  /** A request to the sandbox, whatever it answers. */
  async sandbox<D>(method: string, path: string, body?: unknown): Promise<TestResponse<D>> {
    return new TestResponse<D>(await this.#means.api.send(method, `/sandbox${path}`, { body }))
  }

  /** A request to the sandbox on which a case relies. */
  async act<D>(method: string, path: string, body?: unknown): Promise<D> {
    const answer = await this.sandbox<D>(method, path, body)
    if (answer.status < 300) return answer.data
    throw new SandboxRefused({ call: `${method} /sandbox${path}`, answer: `status ${answer.status}` })
  }

  /** Text that nothing else in any run has. */
  fresh(prefix: string): string {
    return `${prefix}-${this.#means.run}-${this.#means.next()}`
  }

  /** A mobile number that nobody has. */
  phone(): string {
    const digits = Number.parseInt(this.#means.run, 16) % 100_000
    return `+49151${String(digits).padStart(5, "0")}${String(this.#means.next() % 1000).padStart(3, "0")}`
  }

  /** A new shop, open and with a full-access key; without a sandbox, the shop of the given key. */
  async openShop(settings: Fields = {}): Promise<Shop> {
    const { key } = this.#means
    if (key !== undefined) return new Shop(this, { id: "", key, key_id: "" })
    const input = { name: "Conform", currency: "TND", decimals: 3, time_zone: "Africa/Tunis", ...settings }
    const made = await this.act<{ shop: { id: string }; key: string; key_id: string }>("POST", "/shops", input)
    return new Shop(this, { id: made.shop.id, key: made.key, key_id: made.key_id })
  }

  /** An account that no shop knows. */
  async person(person: Fields = {}): Promise<Person> {
    const phone = this.phone()
    const input = { given_name: "Amira", family_name: "Ben Salah", phone, ...person }
    const { id } = await this.act<{ id: string }>("POST", "/clients", input)
    return { id, phone }
  }

  /** The client answers the newest open offer. */
  async answerOffer(person: Person, how: "accept" | "block"): Promise<void> {
    const offers = await this.act<ReadonlyArray<{ id: string; status: string }>>("GET", `/clients/${person.id}/offers`)
    const open = offers.findLast(({ status }) => status === "open")
    if (open === undefined) throw new SandboxRefused({ call: "GET …/offers", answer: "no open offer" })
    await this.act("POST", `/offers/${open.id}/${how}`, {})
  }

  /** The instant of the sandbox clock. */
  async instant(): Promise<string> {
    return (await this.act<{ now: string }>("GET", "/clock")).now
  }

  /** Moves the clock on; all that is due on the way has happened when this returns. */
  async advance(ms: number): Promise<void> {
    await this.act("POST", "/clock", { advance_ms: ms })
  }

  /** Lets all that is due now happen. */
  settle(): Promise<void> {
    return this.advance(0)
  }

  /** A receiver of the case's own. */
  inbox(): Inbox {
    const inbox = this.#means.inboxes?.open()
    if (inbox === undefined) throw new CannotReceive()
    this.#opened.push(inbox)
    return inbox
  }

  /** Ends the case: its receivers answer 410, so that nothing more is sent to them. */
  leave(): void {
    for (const inbox of this.#opened) inbox.answer(410)
  }
}

/** A client's account. */
export interface Person {
  readonly id: string
  readonly phone: string
}

/** A loyalty programme with which every ticket counts. */
const PROGRAM = { active: true, name: "Stamps", stamps_required: 10, stamps_per_ticket: 1, reward_label: "A hem" }

/** A shop, as its system calls the API with one key and as the sandbox shows it. */
export class Shop {
  readonly env: Environment
  readonly id: string
  readonly key: string
  readonly key_id: string

  constructor(env: Environment, made: { readonly id: string; readonly key: string; readonly key_id: string }) {
    this.env = env
    this.id = made.id
    this.key = made.key
    this.key_id = made.key_id
  }

  /** `GET` below `/v1`. */
  get<D>(path: string, options: CallOptions = {}): Promise<TestResponse<D>> {
    return this.env.api("GET", `/v1${path}`, { bearer: this.key, ...options })
  }

  /** `POST` below `/v1`. */
  post<D>(path: string, body?: unknown, options: CallOptions = {}): Promise<TestResponse<D>> {
    return this.env.api("POST", `/v1${path}`, { bearer: this.key, body, ...options })
  }

  /** Asks for a ticket, under a new Idempotency-Key unless one is given. */
  create(body: Fields = {}, options: CallOptions = {}): Promise<TestResponse<Ticket>> {
    return this.post("/tickets", { service: "Hem", ...body }, { once: this.env.fresh("attempt"), ...options })
  }

  /** A new ticket. */
  async ticket(body: Fields = {}): Promise<Ticket> {
    return (await this.create(body)).ok(201)
  }

  /** A ticket as it is now. */
  async read(id: string): Promise<Ticket> {
    return (await this.get<Ticket>(`/tickets/${id}`)).ok()
  }

  /** Asks for a status. */
  status(id: string, status: string): Promise<TestResponse<Ticket>> {
    return this.post(`/tickets/${id}/status`, { status })
  }

  /** A new ticket, moved through the given statuses. */
  async moved(...statuses: ReadonlyArray<string>): Promise<Ticket> {
    let ticket = await this.ticket()
    for (const status of statuses) ticket = (await this.status(ticket.id, status)).ok()
    return ticket
  }

  /** Records that the shop notified the client itself. */
  notified(id: string, channel = "sms"): Promise<TestResponse<Ticket>> {
    return this.post(`/tickets/${id}/notified`, { channel })
  }

  /** Adds stamps. */
  stamps<D>({ id }: { readonly id: string }, count: unknown, options: CallOptions = {}): Promise<TestResponse<D>> {
    return this.post(`/clients/${id}/loyalty/stamps`, { count }, { once: this.env.fresh("stamps"), ...options })
  }

  /** Uses a reward. */
  redeem<D = { card: Card }>({ id }: { readonly id: string }, options: CallOptions = {}): Promise<TestResponse<D>> {
    return this.post(`/clients/${id}/loyalty/redeem`, undefined, { once: this.env.fresh("redeem"), ...options })
  }

  /** Looks a client up by their number. */
  lookUp(phone: string): Promise<TestResponse<Client>> {
    return this.get(`/clients?phone=${encodeURIComponent(phone)}`)
  }

  /** Changes the shop's settings in the sandbox. */
  async set(patch: Fields): Promise<this> {
    await this.env.act("PATCH", `/shops/${this.id}`, patch)
    return this
  }

  /** Switches the loyalty programme on. */
  program(patch: Fields = {}): Promise<this> {
    return this.set({ program: { ...PROGRAM, ...patch } })
  }

  /** The same shop through a new key. */
  async with(rights: Fields): Promise<Shop> {
    const input = { name: "Another", ...rights }
    const made = await this.env.act<{ id: string; key: string }>("POST", `/shops/${this.id}/keys`, input)
    return new Shop(this.env, { id: this.id, key: made.key, key_id: made.id })
  }

  /** A client comes to the shop's counter, and is known there from then on. */
  async visit(client: Person): Promise<Person> {
    await this.env.act("POST", `/clients/${client.id}/visits`, { shop_id: this.id })
    return client
  }

  /** A client whom the shop knows from its counter. */
  async known(person: Fields = {}): Promise<Person> {
    return this.visit(await this.env.person(person))
  }

  /** A client who knew the shop, and blocks it. */
  async blocker(): Promise<Person> {
    const client = await this.known()
    await this.ticket({ client_phone: client.phone })
    await this.env.answerOffer(client, "block")
    return client
  }

  /** A ticket made in the app. */
  app(body: Fields = {}): Promise<TestResponse<Ticket>> {
    return this.env.sandbox("POST", `/shops/${this.id}/tickets`, { service: "Hem", ...body })
  }

  /** The shop's events, oldest first. */
  events(): Promise<ReadonlyArray<Event>> {
    return this.env.act("GET", `/shops/${this.id}/events`)
  }

  /** The types of the shop's events, oldest first. */
  async types(): Promise<ReadonlyArray<string>> {
    return (await this.events()).map(({ type }) => type)
  }

  /** Points the shop's webhook at a receiver; returns its secret. */
  async sendTo(inbox: Inbox): Promise<string> {
    const set = await this.env.act<{ secret: string }>("PUT", `/shops/${this.id}/webhook`, { url: inbox.url })
    return set.secret
  }

  /** Points the shop's webhook at a new receiver. */
  async receiving(reply: Reply | number = 200): Promise<Inbox> {
    const inbox = this.env.inbox()
    inbox.answer(reply)
    await this.sendTo(inbox)
    return inbox
  }

  /** The state of the shop's webhook. */
  webhook(): Promise<Webhook> {
    return this.env.act("GET", `/shops/${this.id}/webhook`)
  }

  /** The deliveries of the shop's events, oldest event first. */
  deliveries(): Promise<ReadonlyArray<Delivery>> {
    return this.env.act("GET", `/shops/${this.id}/deliveries`)
  }
}
