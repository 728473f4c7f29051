import type { Change, Command, Decision, ShopState } from "@workshop/core/store"
import { Either } from "effect"
import type { ShopMoment } from "../../../../core/src/domain/Moment.js"
import type { Fetch } from "../../../src/testkit/Api.js"
import type { Fault } from "../InProcess.js"

/** A server with a seeded fault, and the cases that must find it. */
export interface BrokenServer {
  /** The fault, as the verb of a sentence. */
  readonly does: string
  readonly caughtBy: readonly [string, ...Array<string>]
  /** Creates a new fault for each server, because a fault may have state. */
  readonly fault: () => Fault
}

// biome-ignore lint/suspicious/noExplicitAny: the body is untyped JSON
export type Json = any

/** A request before the server reads it. */
export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Record<string, string>
  /** Undefined if the request has no JSON body. */
  body: Json
}

/** A response before the client receives it. */
export interface SentResponse {
  status: number
  readonly headers: Headers
  body: Json
}

const parse = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const askedOf = async (request: Request): Promise<readonly [SentRequest, string]> => {
  const { pathname, searchParams } = new URL(request.url)
  const text = await request.clone().text()
  const headers = Object.fromEntries(request.headers)
  return [{ method: request.method, path: pathname, query: searchParams, headers, body: parse(text) }, text]
}

const seenOf = async (response: Response): Promise<readonly [SentResponse, string]> => {
  const text = await response.text()
  return [{ status: response.status, headers: new Headers(response.headers), body: parse(text) }, text]
}

const responseOf = ({ status, headers, body }: SentResponse, text: string): Response =>
  new Response(body === undefined ? text || null : JSON.stringify(body), { status, headers })

/** Changes requests before the server reads them. */
export const requests = (change: (asked: SentRequest) => void): Fault => ({
  ask: (ask) => async (request) => {
    const [asked] = await askedOf(request)
    const before = JSON.stringify(asked.body)
    change(asked)
    const after = JSON.stringify(asked.body)
    const url = new URL(request.url)
    url.search = asked.query.size === 0 ? url.search : `?${asked.query}`
    const isChanged = before !== after
    const hasBody = request.method !== "GET" && request.method !== "HEAD"
    const body = isChanged ? after : hasBody ? await request.clone().text() : undefined
    const sent = { method: request.method, headers: asked.headers }
    return ask(new Request(isChanged || asked.query.size > 0 ? url : request.url, body ? { ...sent, body } : sent))
  }
})

/** Sends another request, with the same headers, past the fault to the correct server. */
export type Behind = (path: string, call?: { readonly method?: string; readonly body?: Json }) => Promise<Json>

const behindOf =
  (ask: Fetch, request: Request): Behind =>
  async (path, { method = "GET", body } = {}) => {
    const headers = { ...Object.fromEntries(request.headers), "content-type": "application/json" }
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await ask(new Request(new URL(path, request.url), { method, headers, ...text }))
    return answer.json()
  }

/** Changes responses before the client receives them. */
export const answers = (
  change: (seen: SentResponse, asked: SentRequest, behind: Behind) => void | Promise<void>
): Fault => ({
  ask: (ask) => async (request) => {
    const [asked] = await askedOf(request)
    const [seen, text] = await seenOf(await ask(request))
    await change(seen, asked, behindOf(ask, request))
    return responseOf(seen, text)
  }
})

/** Responds in place of the server if `answer` returns a body. */
export const instead = (answer: (asked: SentRequest) => Json | undefined): Fault => ({
  ask: (ask) => async (request) => {
    const [asked] = await askedOf(request)
    const body = answer(asked)
    return body === undefined ? ask(request) : Response.json(body)
  }
})

/** Wraps the decision of every command. */
export const decisions = (
  decide: <A, E>(
    run: (moment: ShopMoment) => Either.Either<Decision<A>, E>,
    moment: ShopMoment,
    slice: ShopState
  ) => Either.Either<Decision<A>, E>
): Fault => ({
  store: (store) => ({
    transact: (command) => {
      const faulty: typeof command = {
        ...(command as Command<never>),
        run: (slice: ShopState, moment: ShopMoment) => decide((at) => command.run(slice, at), moment, slice) as never
      }
      return store.transact(faulty)
    }
  })
})

/** Replaces each change that a command writes; null drops it. */
export const changes = (change: (change: Change, moment: ShopMoment) => Change | null): Fault =>
  decisions((run, moment) =>
    Either.map(run(moment), (decision) => ({
      ...decision,
      changes: decision.changes.map((one) => change(one, moment)).filter((one) => one !== null)
    }))
  )

/** Changes the body of each event before the store writes it. */
export const eventBodies = (change: (event: Json) => void): Fault =>
  changes((one) => {
    if (one._tag !== "EventRaised") return one
    const event = parse(one.row.body)
    change(event)
    return { ...one, row: { ...one.row, body: JSON.stringify(event) } }
  })

/** Every ticket in a response, alone or in a list. */
export const ticketsIn = ({ body }: SentResponse): ReadonlyArray<Json> =>
  [body?.data].flat().filter((data: Json) => data?.number_label !== undefined)
