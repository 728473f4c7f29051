import { Data } from "effect"
import { answerText } from "../answerText.js"
import { Answer } from "./Answer.js"
import type { Exchange } from "./Exchange.js"

/** Asks as the web does; a server in this process can stand in for `fetch`. */
export type Ask = (request: Request) => Promise<Response>

/** No answer came at all. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly url: string; readonly detail: string }> {
  override get message() {
    return `No answer came from ${this.url} (${this.detail}): see that the server runs there, and give its address with --base-url.`
  }
}

/** What a request says besides its method and path. */
export interface Call {
  /** Sent as the bearer token. */
  readonly bearer?: string | undefined
  /** The Idempotency-Key. */
  readonly once?: string | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, in place of `body`. */
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
}

const ANSWER_MS = 60_000

const detailOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof Error) return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message
  return String(cause)
}

/** Sends requests, and keeps the last exchange for the report. */
export class Wire {
  readonly #ask: Ask
  readonly #origin: string
  last: Exchange | undefined

  constructor(ask: Ask, origin: string) {
    this.#ask = ask
    this.#origin = origin
  }

  async send<D>(
    method: string,
    path: string,
    { bearer, once, body, raw, headers = {} }: Call = {}
  ): Promise<Answer<D>> {
    const text = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const sent: Record<string, string> = {
      ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
      ...(once === undefined ? {} : { "Idempotency-Key": once }),
      ...(text === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers
    }
    const url = `${this.#origin}${path}`
    const asked = { method, url, headers: sent, body: text }
    try {
      const response = await this.#ask(
        new Request(url, {
          method,
          headers: sent,
          redirect: "manual",
          signal: AbortSignal.timeout(ANSWER_MS),
          ...(text === undefined ? {} : { body: text })
        })
      )
      const answer = {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await answerText(response)
      }
      this.last = { ...asked, answer }
      return new Answer<D>(this.last)
    } catch (error) {
      throw new NoAnswer({ url, detail: detailOf(error) })
    }
  }
}
