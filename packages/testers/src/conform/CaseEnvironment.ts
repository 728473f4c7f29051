import type { Client } from "@workshop/core/promise"
import { Data } from "effect"
import type { Api, CallOptions } from "../testkit/Api.js"
import { type CallName, requestOf } from "../testkit/Calls.js"
import type { Reply } from "../testkit/LoopbackServer.js"
import type { DeliveryJson, EventJson, TicketJson, WebhookJson } from "../testkit/ResponseTypes.js"
import { SECOND } from "../testkit/Time.js"
import { TestResponse } from "./Expectations.js"
import type { Inbox, Inboxes } from "./Target.js"

/** The sandbox refused a call that the case needs, so the case cannot judge the server. */
class SandboxRefused extends Data.TaggedError("SandboxRefused")<{
  readonly call: string
  readonly response: string
}> {
  override get message() {
    return `The sandbox call ${this.call} (Specification, Sandbox) failed. The sandbox returned ${this.response}`
  }
}

/** Webhooks cannot reach this machine, so the case cannot judge the server. */
export class CannotReceive extends Data.TaggedError("CannotReceive")<{}> {}

/** The parts of an environment: the server, its sandbox if it has one, and a source of unused names and numbers. */
interface CaseResources {
  readonly api: Api
  /** The receivers; null if webhooks cannot reach this machine. */
  readonly inboxes: Inboxes | null
  /** The key to use if there is no sandbox. */
  readonly key: string | undefined
  /** A text that is unique to this run. */
  readonly run: string
  /** Returns a new number on each call. */
  readonly next: () => number
  /** Waits, in real time. */
  readonly pause: (ms: number) => Promise<void>
}

type Fields = Readonly<Record<string, unknown>>

const MAX_ATTEMPTS = 3

/**
 * The environment of a case. It calls the API, and the sandbox on behalf of the app, the owner, the client and the
 * clock.
 */
export class CaseEnvironment {
  readonly #resources: CaseResources
  readonly #opened: Array<Inbox> = []

  constructor(resources: CaseResources) {
    this.#resources = resources
  }

  /**
   * Sends a request to a path below the base URL. With the key of a real shop, it repeats a 429 after the limit's
   * reset.
   */
  async api<D>(method: string, path: string, options: CallOptions = {}): Promise<TestResponse<D>> {
    const { api, key, pause } = this.#resources
    for (let tries = 1; ; tries++) {
      const response = new TestResponse<D>(await api.send(method, path, options))
      if (key === undefined || response.status !== 429 || tries >= MAX_ATTEMPTS) return response
      await pause(Number(response.header("ratelimit-reset") ?? "60") * SECOND)
    }
  }

  /** Calls the sandbox for the resource with this id, and returns any response. */
  sandbox<D>(call: CallName, id = "", body?: unknown): Promise<TestResponse<D>> {
    const { method, path } = requestOf(call, id)
    return this.api(method, path, { body })
  }

  /** Calls the sandbox, and fails unless the response is a success. */
  async callSandbox<D>(call: CallName, id = "", body?: unknown): Promise<D> {
    const response = await this.sandbox<D>(call, id, body)
    if (response.status < 300) return response.data
    const { method, path } = requestOf(call, id)
    throw new SandboxRefused({ call: `${method} ${path}`, response: `status ${response.status}` })
  }

  /** Returns a text that occurs nowhere else in any run. */
  readonly uniqueText = (prefix: string): string => `${prefix}-${this.#resources.run}-${this.#resources.next()}`

  /** Returns an unused mobile number. */
  readonly unusedPhone = (): string => {
    const digits = Number.parseInt(this.#resources.run, 16) % 100_000
    return `+49151${String(digits).padStart(5, "0")}${String(this.#resources.next() % 1000).padStart(3, "0")}`
  }

  /** Opens a new shop with a full-access key; without a sandbox, returns the shop of the given key. */
  readonly openShop = async (settings: Fields = {}): Promise<CaseShop> => {
    const { key } = this.#resources
    if (key !== undefined) return new CaseShop(this, { id: "", key, key_id: "" })
    const input = { name: "Conform", currency: "TND", decimals: 3, time_zone: "Africa/Tunis", ...settings }
    const openedShop = await this.callSandbox<{ shop: { id: string }; key: string; key_id: string }>(
      "open shop",
      "",
      input
    )
    return new CaseShop(this, { id: openedShop.shop.id, key: openedShop.key, key_id: openedShop.key_id })
  }

  /** Opens an account that no shop knows. */
  readonly openAccount = async (person: Fields = {}): Promise<CasePerson> => {
    const phone = this.unusedPhone()
    const input = { given_name: "Amira", family_name: "Ben Salah", phone, ...person }
    return { id: (await this.callSandbox<{ id: string }>("register", "", input)).id, phone }
  }

  /** Answers the client's newest open offer. */
  readonly answerOffer = async ({ id }: CasePerson, action: "accept" | "block"): Promise<void> => {
    const offers = await this.callSandbox<ReadonlyArray<{ id: string; status: string }>>("get offers", id)
    const open = offers.findLast(({ status }) => status === "open")
    if (open === undefined) throw new SandboxRefused({ call: "GET …/offers", response: "no open offer" })
    await this.callSandbox(action === "accept" ? "accept offer" : "block shop", open.id, {})
  }

  /** Returns the instant of the sandbox clock. */
  readonly readInstant = async (): Promise<string> => (await this.callSandbox<{ now: string }>("read clock")).now

  /** Moves the clock forward, and waits until the closures and deliveries that became due have run. */
  readonly advance = (ms: number): Promise<unknown> => this.callSandbox("move clock", "", { advance_ms: ms })

  /** Runs the closures and deliveries that are due now. */
  readonly settle = (): Promise<unknown> => this.advance(0)

  /** Opens a receiver for this case. */
  readonly openInbox = (): Inbox => {
    const inbox = this.#resources.inboxes?.open()
    if (inbox === undefined) throw new CannotReceive()
    this.#opened.push(inbox)
    return inbox
  }

  /** Ends the case: its receivers respond 410, so that nothing more is sent to them. */
  close(): void {
    for (const inbox of this.#opened) inbox.reply(410)
  }
}

/** A client's account. */
export interface CasePerson {
  readonly id: string
  readonly phone: string
}

/** A loyalty programme in which every ticket earns a stamp. */
const PROGRAM = { active: true, name: "Stamps", stamps_required: 10, stamps_per_ticket: 1, reward_label: "A hem" }

type PendingResponse<D> = Promise<TestResponse<D>>

/** A shop and one of its keys, with calls to the API and the sandbox. */
export class CaseShop {
  readonly env: CaseEnvironment
  readonly id: string
  readonly key: string
  readonly key_id: string

  constructor(
    env: CaseEnvironment,
    openedShop: { readonly id: string; readonly key: string; readonly key_id: string }
  ) {
    this.env = env
    this.id = openedShop.id
    this.key = openedShop.key
    this.key_id = openedShop.key_id
  }

  /** `GET` below `/v1`. */
  readonly get = <D>(path: string, options: CallOptions = {}): PendingResponse<D> =>
    this.env.api("GET", `/v1${path}`, { bearer: this.key, ...options })

  /** `POST` below `/v1`. */
  readonly post = <D>(path: string, body?: unknown, options: CallOptions = {}): PendingResponse<D> =>
    this.env.api("POST", `/v1${path}`, { bearer: this.key, body, ...options })

  /** Requests a new ticket, with a new Idempotency-Key unless one is given. */
  readonly create = (body: Fields = {}, options: CallOptions = {}): PendingResponse<TicketJson> =>
    this.post("/tickets", { service: "Hem", ...body }, { idempotencyKey: this.env.uniqueText("attempt"), ...options })

  /** A new ticket. */
  readonly createTicket = async (body: Fields = {}): Promise<TicketJson> => (await this.create(body)).expectOk(201)

  /** Creates a ticket, and waits until its events are delivered. */
  readonly createAndDeliver = async (): Promise<TicketJson> => {
    const ticket = await this.createTicket()
    await this.env.settle()
    return ticket
  }

  /** Creates a ticket of a client whom the shop knows. */
  readonly createClientTicket = async () => {
    const client = await this.openKnownClient()
    return { client, id: (await this.createTicket({ client_id: client.id })).id }
  }

  /** Reads the current state of a ticket. */
  readonly readTicket = async (id: string): Promise<TicketJson> =>
    (await this.get<TicketJson>(`/tickets/${id}`)).expectOk()

  /** Requests a status of a ticket. */
  readonly setStatus = (id: string, status: string): PendingResponse<TicketJson> =>
    this.post(`/tickets/${id}/status`, { status })

  /** Creates a ticket and sets the given statuses, one after another. */
  readonly createAndMove = async (...statuses: ReadonlyArray<string>): Promise<TicketJson> => {
    let ticket = await this.createTicket()
    for (const status of statuses) ticket = (await this.setStatus(ticket.id, status)).expectOk()
    return ticket
  }

  /** Records that the shop notified the client itself. */
  readonly recordNotified = (id: string, channel = "sms"): PendingResponse<TicketJson> =>
    this.post(`/tickets/${id}/notified`, { channel })

  /** Adds stamps. */
  readonly addStamps = <D>(
    { id }: { readonly id: string },
    count: unknown,
    options: CallOptions = {}
  ): PendingResponse<D> =>
    this.post(`/clients/${id}/loyalty/stamps`, { count }, { idempotencyKey: this.env.uniqueText("stamps"), ...options })

  /** Uses a reward. */
  readonly redeem = <D>({ id }: { readonly id: string }, options: CallOptions = {}): PendingResponse<D> =>
    this.post(`/clients/${id}/loyalty/redeem`, undefined, {
      idempotencyKey: this.env.uniqueText("redeem"),
      ...options
    })

  /** Looks up a client by phone number. */
  readonly lookUp = (phone: string): PendingResponse<Client> => this.get(`/clients?phone=${encodeURIComponent(phone)}`)

  /** Changes the shop's settings in the sandbox. */
  async changeSettings(patch: Fields): Promise<this> {
    await this.env.callSandbox("change shop", this.id, patch)
    return this
  }

  /** Turns the loyalty programme on. */
  enableProgram(patch: Fields = {}): Promise<this> {
    return this.changeSettings({ program: { ...PROGRAM, ...patch } })
  }

  /** Turns the loyalty programme on, and returns a client whom the shop knows. */
  readonly openLoyalClient = async (patch: Fields = {}): Promise<CasePerson> =>
    (await this.enableProgram(patch)).openKnownClient()

  /** Returns the same shop with a new key. */
  readonly withKey = async (rights: Fields): Promise<CaseShop> => {
    const created = await this.env.callSandbox<{ id: string; key: string }>("create key", this.id, {
      name: "Another",
      ...rights
    })
    return new CaseShop(this.env, { id: this.id, key: created.key, key_id: created.id })
  }

  /** Records that a client visits the shop, which then knows the client. */
  readonly visit = async (client: CasePerson): Promise<CasePerson> => {
    await this.env.callSandbox("visit", client.id, { shop_id: this.id })
    return client
  }

  /** Opens an account of a client who has visited the shop. */
  readonly openKnownClient = async (person: Fields = {}): Promise<CasePerson> =>
    this.visit(await this.env.openAccount(person))

  /** Opens an account of a client whom the shop knew, and who has blocked the shop. */
  readonly openBlocker = async (): Promise<CasePerson> => {
    const client = await this.openKnownClient()
    await this.createTicket({ client_phone: client.phone })
    await this.env.answerOffer(client, "block")
    return client
  }

  /** Requests a new ticket as the app does. */
  readonly createInApp = (body: Fields = {}): PendingResponse<TicketJson> =>
    this.env.sandbox("create in app", this.id, { service: "Hem", ...body })

  /** The shop's events, oldest first. */
  readonly listEvents = (): Promise<ReadonlyArray<EventJson>> => this.env.callSandbox("list events", this.id)

  /** The types of the shop's events, oldest first. */
  readonly listEventTypes = async (): Promise<ReadonlyArray<string>> =>
    (await this.listEvents()).map(({ type }) => type)

  /** Sets the shop's webhook to the address of a receiver. Returns the secret. */
  readonly setWebhookTo = async ({ url }: Inbox): Promise<string> =>
    (await this.env.callSandbox<{ secret: string }>("set webhook", this.id, { url })).secret

  /** Sets the shop's webhook to the address of a new receiver. */
  readonly openReceiver = async (reply: Reply | number = 200): Promise<Inbox> => {
    const inbox = this.env.openInbox()
    inbox.reply(reply)
    await this.setWebhookTo(inbox)
    return inbox
  }

  /** The state of the shop's webhook. */
  readonly readWebhook = (): Promise<WebhookJson> => this.env.callSandbox("get webhook", this.id)

  /** The deliveries of the shop's events, oldest event first. */
  readonly listDeliveries = (): Promise<ReadonlyArray<DeliveryJson>> => this.env.callSandbox("list deliveries", this.id)

  /** Replays events. Returns their number. */
  readonly replay = async (which: Fields): Promise<number> =>
    (await this.env.callSandbox<{ count: number }>("replay events", this.id, which)).count
}
