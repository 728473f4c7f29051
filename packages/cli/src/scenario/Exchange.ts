import { Effect } from "effect"
import { responseText as answerText } from "../testkit/Api.js"
import { type World, WorldBroken } from "./World.js"

/** A request as a step makes it. */
export interface Call {
  readonly method: string
  /** With its query, such as `/v1/tickets?limit=2`. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, or as it is where it is text. */
  readonly body?: unknown
}

/** What was asked and what was answered. */
export interface Exchange {
  readonly call: Call
  readonly status: number
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  /** As JSON where it is JSON, else as text. */
  readonly body: unknown
}

const JSON_TYPE = { "content-type": "application/json" }

const bodyOf = ({ body }: Call): string | null =>
  body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error && cause.cause.message !== "" ? cause.cause.message : cause.message
}

/** Makes a request of the world. */
export const exchange = (world: World, call: Call): Effect.Effect<Exchange, WorldBroken> =>
  Effect.tryPromise({
    try: async (signal) => {
      const headers = { ...(call.body === undefined ? {} : JSON_TYPE), ...call.headers }
      const request = new Request(world.base + call.path, { method: call.method, headers, body: bodyOf(call), signal })
      const response = await world.fetch(request)
      const text = await answerText(response)
      return { call, status: response.status, headers: Object.fromEntries(response.headers), body: parsed(text) }
    },
    catch: (cause) =>
      new WorldBroken({
        message: `${call.method} ${world.base}${call.path} got no answer (${reasonOf(cause)}): is the service running there?`
      })
  })

/** The `data` of an answer. */
export const dataOf = ({ body }: Exchange): unknown =>
  typeof body === "object" && body !== null ? (body as { data?: unknown }).data : undefined

/** Whether the service did what it was asked. */
export const isSuccess = ({ status }: Exchange): boolean => status >= 200 && status < 300

/** The exchange as it may be shown: a key is as good as money, and its last four letters tell which one it was. */
export const withoutKey = ({ call, ...answered }: Exchange): Exchange => {
  const bearer = call.headers?.authorization
  if (bearer === undefined) return { call, ...answered }
  const authorization = bearer.replace(/^Bearer .*(.{4})$/, "Bearer ...$1")
  return { call: { ...call, headers: { ...call.headers, authorization } }, ...answered }
}
