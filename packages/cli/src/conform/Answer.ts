import { Broken, expectShape, expectThat, shown } from "./Broken.js"
import type { Exchange } from "./Exchange.js"

/** What `meta` may hold (Specification, Lists and sync). */
export interface Meta {
  readonly replayed?: boolean
  readonly has_more?: boolean
  readonly next_cursor?: string | null
  readonly synced_until?: string
  readonly others?: ReadonlyArray<{ readonly id: string; readonly number: number; readonly state: string }>
}

interface Envelope {
  readonly success?: unknown
  readonly data?: unknown
  readonly meta?: Meta
  readonly error?: {
    readonly code?: string
    readonly message?: string
    readonly details?: Readonly<Record<string, unknown>>
  }
}

const read = (text: string): Envelope | undefined => {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === "object" && json !== null && !Array.isArray(json) ? json : undefined
  } catch {
    return undefined
  }
}

/** An answer of the server, and what a case expects of it. `D` is what its `data` holds. */
export class Answer<D = unknown> {
  readonly exchange: Exchange
  readonly #envelope: Envelope | undefined

  constructor(exchange: Exchange) {
    this.exchange = exchange
    this.#envelope = read(exchange.answer.body)
  }

  get status(): number {
    return this.exchange.answer.status
  }

  /** A header by its name in lower case. */
  header(name: string): string | undefined {
    return this.exchange.answer.headers[name]
  }

  get data(): D {
    return this.#envelope?.data as D
  }

  get meta(): Meta {
    return this.#envelope?.meta ?? {}
  }

  get error(): NonNullable<Envelope["error"]> {
    return this.#envelope?.error ?? {}
  }

  /** What is wrong with the request, as `in field` lines. */
  get issues(): ReadonlyArray<string> {
    const issues = this.error.details?.issues
    if (!Array.isArray(issues)) return []
    return (issues as ReadonlyArray<{ in?: string; field?: string }>).map((issue) => `${issue.in} ${issue.field}`)
  }

  /** The body in a few words. */
  get #told(): string {
    if (this.#envelope?.error !== undefined) return shown(this.#envelope.error)
    if (this.#envelope?.success === true && this.#envelope.data !== undefined) return "a success"
    return "a body that is not the envelope"
  }

  /** Expects a success in its envelope (Specification, Requests and answers). */
  ok(status = 200): D {
    const envelope = this.#envelope
    if (this.status !== status || envelope?.success !== true || envelope.data === undefined) {
      throw new Broken({
        expected: `status ${status} with {"success":true,"data":…}`,
        found: `status ${this.status} with ${this.#told}`,
        exchange: this.exchange
      })
    }
    return envelope.data as D
  }

  /** Expects a failure in its envelope, with these details among others (Specification, Errors). */
  refused(status: number, code: string, details?: Readonly<Record<string, unknown>>): this {
    const envelope = this.#envelope
    if (this.status !== status || envelope?.success !== false || envelope.error?.code !== code) {
      throw new Broken({
        expected: `status ${status} with {"success":false,"error":{"code":"${code}",…}}`,
        found: `status ${this.status} with ${this.#told}`,
        exchange: this.exchange
      })
    }
    if (details !== undefined) expectShape(envelope.error.details, details, "error.details", this.exchange)
    return this
  }

  /** Expects 400 with issues at these places, such as `body service`, among others (Specification, Errors); case is no matter. */
  invalid(...places: ReadonlyArray<string>): this {
    this.refused(400, "VALIDATION_ERROR")
    const found = this.issues.map((issue) => issue.toLowerCase())
    for (const place of places) {
      expectThat(found.includes(place.toLowerCase()), `an issue at "${place}"`, this.issues, this.exchange)
    }
    return this
  }

  /** Expects 409 with a reason (Specification, Errors). */
  conflict(reason: string, details: Readonly<Record<string, unknown>> = {}): this {
    return this.refused(409, "CONFLICT", { reason, ...details })
  }

  /** Expects a success whose data has these fields. */
  shows(fields: unknown, status = 200): D {
    const data = this.ok(status)
    expectShape(data, fields, "data", this.exchange)
    return data
  }

  /** Expects `meta` to have these fields. */
  withMeta(fields: Readonly<Record<string, unknown>>): this {
    expectShape(this.#envelope?.meta, fields, "meta", this.exchange)
    return this
  }

  /** Expects a header. */
  withHeader(name: string, value: string | RegExp | undefined): this {
    const found = this.header(name.toLowerCase())
    expectShape(found, value, `the header ${name}`, this.exchange)
    return this
  }
}
