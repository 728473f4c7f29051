import { Data } from "effect"
import type { Answer } from "./Answer.js"
import type { Inbox, Inboxes } from "./Inbox.js"
import { type Person, Shop } from "./Shop.js"
import type { Call, Wire } from "./Wire.js"

/** One second, in milliseconds. */
export const SECOND = 1000
/** One minute, in milliseconds. */
export const MINUTE = 60 * SECOND
/** One hour, in milliseconds. */
export const HOUR = 60 * MINUTE
/** Twenty-four hours, in milliseconds. */
export const DAY = 24 * HOUR

/** An id that nothing has. */
export const NOBODY = "01890000-0000-7000-8000-000000000000"

/** An instant so many milliseconds after another, as the API writes it. */
export const later = (instant: string, ms: number): string => new Date(Date.parse(instant) + ms).toISOString()

/** The sandbox did not do what the case needs, so the case cannot tell. */
export class SandboxRefused extends Data.TaggedError("SandboxRefused")<{
  readonly call: string
  readonly answer: string
}> {
  override get message() {
    return `The sandbox call ${this.call} (Specification, Sandbox) was answered with ${this.answer}`
  }
}

/** No webhook can come to this machine, so the case cannot tell. */
export class CannotReceive extends Data.TaggedError("CannotReceive")<{}> {}

/** What a case has to do with: a server, its sandbox where there is one, and names that nobody has used yet. */
export interface Means {
  readonly wire: Wire
  /** Null where webhooks cannot come here. */
  readonly inboxes: Inboxes | null
  readonly sandboxToken: string | undefined
  /** The key to use where there is no sandbox. */
  readonly key: string | undefined
  /** Text that no other run has. */
  readonly run: string
  /** A number that no other call gets. */
  readonly next: () => number
  /** Waits, in real time. */
  readonly pause: (ms: number) => Promise<void>
}

const PATIENCE = 3

/** Where a case acts: through the API, and through the sandbox as the app, the owner, the client and the clock. */
export class World {
  readonly #means: Means
  readonly #opened: Array<Inbox> = []

  constructor(means: Means) {
    this.#means = means
  }

  /** A request to the API, by its path below the base. On the shop of a real key it waits where a limit says so. */
  async api<D>(method: string, path: string, call: Call = {}): Promise<Answer<D>> {
    const { wire, key, pause } = this.#means
    for (let tries = 1; ; tries++) {
      const answer = await wire.send<D>(method, path, call)
      if (key === undefined || answer.status !== 429 || tries >= PATIENCE) return answer
      await pause(Number(answer.header("ratelimit-reset") ?? "60") * SECOND)
    }
  }

  /** A request to the sandbox, whatever it answers. */
  sandbox<D>(method: string, path: string, body?: unknown): Promise<Answer<D>> {
    return this.#means.wire.send<D>(method, `/sandbox${path}`, { bearer: this.#means.sandboxToken, body })
  }

  /** An act in the sandbox that a case relies on. */
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

  /** A shop of the case's own, open and with a full-access key; without a sandbox, the shop of the given key. */
  async shop(settings: Readonly<Record<string, unknown>> = {}): Promise<Shop> {
    const { key } = this.#means
    if (key !== undefined) return new Shop(this, { id: "", key, key_id: "" })
    const input = { name: "Conform", currency: "TND", decimals: 3, time_zone: "Africa/Tunis", ...settings }
    const made = await this.act<{ shop: { id: string }; key: string; key_id: string }>("POST", "/shops", input)
    return new Shop(this, { id: made.shop.id, key: made.key, key_id: made.key_id })
  }

  /** An account that no shop knows. */
  async person(person: Readonly<Record<string, unknown>> = {}): Promise<Person> {
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

  /** What the sandbox clock shows. */
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

  /** The case is over: what still comes to its receivers is wanted no more. */
  leave(): void {
    for (const inbox of this.#opened) inbox.answer({ status: 410 })
  }
}
