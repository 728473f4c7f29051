import type { Client } from "@workshop/core/promise"
import { Data } from "effect"
import type { Api, CallOptions } from "../../sandbox/Api.js"
import { type CallName, requestOf } from "../../sandbox/Calls.js"
import type { Reply } from "../testkit/LoopbackServer.js"
import type { Delivery, Event, Ticket, Webhook } from "../testkit/ResponseTypes.js"
import { SECOND } from "../testkit/Time.js"
import { TestResponse } from "./Expectations.js"
import type { Inbox, Inboxes } from "./Target.js"

/** The sandbox did not do what the case needs, so the case cannot judge the server. */
class SandboxRefused extends Data.TaggedError("SandboxRefused")<{
  readonly call: string
  readonly response: string
}> {
  override get message() {
    return `The sandbox call ${this.call} (Specification, Sandbox) returned ${this.response}`
  }
}

/** Webhooks cannot reach this machine, so the case cannot judge the server. */
export class CannotReceive extends Data.TaggedError("CannotReceive")<{}> {}

/** The parts of an environment: the server, its sandbox if it has one, and a source of unused names. */
interface Resources {
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

/** The environment of a case: it acts through the API, and through the sandbox as the app, the owner, the client and the clock. */
export class CaseEnvironment {
  readonly #resources: Resources
  readonly #opened: Array<Inbox> = []

  constructor(resources: Resources) {
    this.#resources = resources
  }

  /** A request by its path below the base. On the shop of a real key it waits where a limit says so. */
  async api<D>(method: string, path: string, options: CallOptions = {}): Promise<TestResponse<D>> {
    const { api, key, pause } = this.#resources
    for (let tries = 1; ; tries++) {
      const response = new TestResponse<D>(await api.send(method, path, options))
      if (key === undefined || response.status !== 429 || tries >= MAX_TRIES) return response
      await pause(Number(response.header("ratelimit-reset") ?? "60") * SECOND)
    }
  }

  /** A call of the sandbox about the thing with an id, with any response. */
  sandbox<D>(call: CallName, id = "", body?: unknown): Promise<TestResponse<D>> {
    const { method, path } = requestOf(call, id)
    return this.api(method, path, { body })
  }

  /** A call of the sandbox on which a case relies. */
  async act<D>(call: CallName, id = "", body?: unknown): Promise<D> {
    const response = await this.sandbox<D>(call, id, body)
    if (response.status < 300) return response.data
    const { method, path } = requestOf(call, id)
    throw new SandboxRefused({ call: `${method} ${path}`, response: `status ${response.status}` })
  }

  /** Text that nothing else in any run has. */
  readonly fresh = (prefix: string): string => `${prefix}-${this.#resources.run}-${this.#resources.next()}`

  /** An unused mobile number. */
  readonly phone = (): string => {
    const digits = Number.parseInt(this.#resources.run, 16) % 100_000
    return `+49151${String(digits).padStart(5, "0")}${String(this.#resources.next() % 1000).padStart(3, "0")}`
  }

  /** A new shop, open and with a full-access key; without a sandbox, the shop of the given key. */
  readonly openShop = async (settings: Fields = {}): Promise<Shop> => {
    const { key } = this.#resources
    if (key !== undefined) return new Shop(this, { id: "", key, key_id: "" })
    const input = { name: "Conform", currency: "TND", decimals: 3, time_zone: "Africa/Tunis", ...settings }
    const opened = await this.act<{ shop: { id: string }; key: string; key_id: string }>("open shop", "", input)
    return new Shop(this, { id: opened.shop.id, key: opened.key, key_id: opened.key_id })
  }

  /** An account that no shop knows. */
  readonly person = async (person: Fields = {}): Promise<Person> => {
    const phone = this.phone()
    const input = { given_name: "Amira", family_name: "Ben Salah", phone, ...person }
    return { id: (await this.act<{ id: string }>("register", "", input)).id, phone }
  }

  /** The client answers the newest open offer. */
  readonly answerOffer = async ({ id }: Person, how: "accept" | "block"): Promise<void> => {
    const offers = await this.act<ReadonlyArray<{ id: string; status: string }>>("get offers", id)
    const open = offers.findLast(({ status }) => status === "open")
    if (open === undefined) throw new SandboxRefused({ call: "GET …/offers", response: "no open offer" })
    await this.act(how === "accept" ? "accept offer" : "block shop", open.id, {})
  }

  /** The instant of the sandbox clock. */
  readonly instant = async (): Promise<string> => (await this.act<{ now: string }>("read clock")).now

  /** Moves the clock on; all that is due on the way has happened when this returns. */
  readonly advance = (ms: number): Promise<unknown> => this.act("move clock", "", { advance_ms: ms })

  /** Lets all that is due now happen. */
  readonly settle = (): Promise<unknown> => this.advance(0)

  /** A receiver of the case's own. */
  readonly inbox = (): Inbox => {
    const inbox = this.#resources.inboxes?.open()
    if (inbox === undefined) throw new CannotReceive()
    this.#opened.push(inbox)
    return inbox
  }

  /** Ends the case: its receivers respond 410, so that nothing more is sent to them. */
  leave(): void {
    for (const inbox of this.#opened) inbox.reply(410)
  }
}

/** A client's account. */
export interface Person {
  readonly id: string
  readonly phone: string
}

/** A loyalty programme with which every ticket counts. */
const PROGRAM = { active: true, name: "Stamps", stamps_required: 10, stamps_per_ticket: 1, reward_label: "A hem" }

type Responding<D> = Promise<TestResponse<D>>

/** A shop, as its system calls the API with one key and as the sandbox shows it. */
export class Shop {
  readonly env: CaseEnvironment
  readonly id: string
  readonly key: string
  readonly key_id: string

  constructor(env: CaseEnvironment, opened: { readonly id: string; readonly key: string; readonly key_id: string }) {
    this.env = env
    this.id = opened.id
    this.key = opened.key
    this.key_id = opened.key_id
  }

  /** `GET` below `/v1`. */
  readonly get = <D>(path: string, options: CallOptions = {}): Responding<D> =>
    this.env.api("GET", `/v1${path}`, { bearer: this.key, ...options })

  /** `POST` below `/v1`. */
  readonly post = <D>(path: string, body?: unknown, options: CallOptions = {}): Responding<D> =>
    this.env.api("POST", `/v1${path}`, { bearer: this.key, body, ...options })

  /** Asks for a ticket, under a new Idempotency-Key unless one is given. */
  readonly create = (body: Fields = {}, options: CallOptions = {}): Responding<Ticket> =>
    this.post("/tickets", { service: "Hem", ...body }, { once: this.env.fresh("attempt"), ...options })

  /** A new ticket. */
  readonly ticket = async (body: Fields = {}): Promise<Ticket> => (await this.create(body)).ok(201)

  /** A new ticket, of which the webhook has been sent. */
  readonly sent = async (): Promise<Ticket> => {
    const ticket = await this.ticket()
    await this.env.settle()
    return ticket
  }

  /** A new ticket of a client whom the shop knows. */
  readonly clientTicket = async () => {
    const client = await this.known()
    return { client, id: (await this.ticket({ client_id: client.id })).id }
  }

  /** A ticket as it is now. */
  readonly read = async (id: string): Promise<Ticket> => (await this.get<Ticket>(`/tickets/${id}`)).ok()

  /** Asks for a status. */
  readonly status = (id: string, status: string): Responding<Ticket> => this.post(`/tickets/${id}/status`, { status })

  /** A new ticket, moved through the given statuses. */
  readonly moved = async (...statuses: ReadonlyArray<string>): Promise<Ticket> => {
    let ticket = await this.ticket()
    for (const status of statuses) ticket = (await this.status(ticket.id, status)).ok()
    return ticket
  }

  /** Records that the shop notified the client itself. */
  readonly notified = (id: string, channel = "sms"): Responding<Ticket> =>
    this.post(`/tickets/${id}/notified`, { channel })

  /** Adds stamps. */
  readonly stamps = <D>({ id }: { readonly id: string }, count: unknown, options: CallOptions = {}): Responding<D> =>
    this.post(`/clients/${id}/loyalty/stamps`, { count }, { once: this.env.fresh("stamps"), ...options })

  /** Uses a reward. */
  readonly redeem = <D>({ id }: { readonly id: string }, options: CallOptions = {}): Responding<D> =>
    this.post(`/clients/${id}/loyalty/redeem`, undefined, { once: this.env.fresh("redeem"), ...options })

  /** Looks a client up by their number. */
  readonly lookUp = (phone: string): Responding<Client> => this.get(`/clients?phone=${encodeURIComponent(phone)}`)

  /** Changes the shop's settings in the sandbox. */
  async set(patch: Fields): Promise<this> {
    await this.env.act("change shop", this.id, patch)
    return this
  }

  /** Switches the loyalty programme on. */
  program(patch: Fields = {}): Promise<this> {
    return this.set({ program: { ...PROGRAM, ...patch } })
  }

  /** A client whom the shop knows, with the loyalty programme switched on. */
  readonly loyal = async (patch: Fields = {}): Promise<Person> => (await this.program(patch)).known()

  /** The same shop through a new key. */
  readonly with = async (rights: Fields): Promise<Shop> => {
    const created = await this.env.act<{ id: string; key: string }>("create key", this.id, {
      name: "Another",
      ...rights
    })
    return new Shop(this.env, { id: this.id, key: created.key, key_id: created.id })
  }

  /** A client comes to the shop's counter, and is known there from then on. */
  readonly visit = async (client: Person): Promise<Person> => {
    await this.env.act("visit", client.id, { shop_id: this.id })
    return client
  }

  /** A client whom the shop knows from its counter. */
  readonly known = async (person: Fields = {}): Promise<Person> => this.visit(await this.env.person(person))

  /** A client who knew the shop, and blocks it. */
  readonly blocker = async (): Promise<Person> => {
    const client = await this.known()
    await this.ticket({ client_phone: client.phone })
    await this.env.answerOffer(client, "block")
    return client
  }

  /** A ticket made in the app. */
  readonly app = (body: Fields = {}): Responding<Ticket> =>
    this.env.sandbox("create in app", this.id, { service: "Hem", ...body })

  /** The shop's events, oldest first. */
  readonly events = (): Promise<ReadonlyArray<Event>> => this.env.act("list events", this.id)

  /** The types of the shop's events, oldest first. */
  readonly types = async (): Promise<ReadonlyArray<string>> => (await this.events()).map(({ type }) => type)

  /** Points the shop's webhook at a receiver; returns its secret. */
  readonly sendTo = async ({ url }: Inbox): Promise<string> =>
    (await this.env.act<{ secret: string }>("set webhook", this.id, { url })).secret

  /** Points the shop's webhook at a new receiver. */
  readonly receiving = async (reply: Reply | number = 200): Promise<Inbox> => {
    const inbox = this.env.inbox()
    inbox.reply(reply)
    await this.sendTo(inbox)
    return inbox
  }

  /** The state of the shop's webhook. */
  readonly webhook = (): Promise<Webhook> => this.env.act("get webhook", this.id)

  /** The deliveries of the shop's events, oldest event first. */
  readonly deliveries = (): Promise<ReadonlyArray<Delivery>> => this.env.act("list deliveries", this.id)

  /** Sends events again; returns how many. */
  readonly replay = async (which: Fields): Promise<number> =>
    (await this.env.act<{ count: number }>("replay events", this.id, which)).count
}
