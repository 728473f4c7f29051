import type { IdempotentResult } from "../decisions/Idempotency.js"
import type { LimitStatus } from "../domain/LimitWindow.js"
import type { Ticket } from "../domain/Ticket.js"

const REPLAYED = { "Idempotent-Replayed": "true" } as const

/**
 * The response to an idempotent request. A repetition is marked in `meta` and in a header (Specification, Lists and
 * sync).
 */
export const idempotentResponse = <A>({ data, replayed }: IdempotentResult<A>) =>
  replayed ? { data, meta: { replayed }, headers: REPLAYED } : { data, meta: { replayed } }

/**
 * The response to a ticket's creation: 201 the first time and 200 for a repetition, with the limits that it counted
 * against.
 */
export const createdTicketResponse = ({
  data,
  replayed,
  limitStatuses
}: IdempotentResult<Ticket> & { readonly limitStatuses: ReadonlyArray<LimitStatus> }) =>
  replayed
    ? { data, meta: { replayed }, headers: REPLAYED, status: 200, limitStatuses }
    : { data, meta: { replayed }, status: 201, limitStatuses }

/** The response with the ticket of a number. */
export const byNumberResponse = <A, B>({ data, others }: { readonly data: A; readonly others: B }) => ({
  data,
  meta: { others }
})

/** The API's response to a result, for any framework. */
export interface SuccessResponse<D> {
  /** The HTTP status: 201 for a ticket that was created, otherwise 200. */
  readonly status: 200 | 201
  /** `Idempotent-Replayed`, if the result is a repetition. */
  readonly headers: Readonly<Record<string, string>>
  /** The envelope of the API. */
  readonly body: { readonly success: true; readonly data: D; readonly meta?: unknown }
}

/** The data in a result: its `data` if it has other fields too, otherwise the result itself. */
export type DataOf<A> = A extends { readonly data: infer D } ? D : A

interface ResponseParts {
  readonly status?: number
  readonly data: unknown
  readonly meta?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const partsOf = (result: unknown): ResponseParts => {
  if (typeof result !== "object" || result === null || !("data" in result)) return { data: result }
  if ("others" in result) return byNumberResponse(result)
  if (!("replayed" in result)) return result
  return "limitStatuses" in result ? createdTicketResponse(result as never) : idempotentResponse(result as never)
}

/**
 * The response of the API to a result of a method, for routes of your own, with the same status and envelope, such as
 * 201 and `meta.replayed` for `tickets.create`, and the `meta` of a list. Send it in the same way as the response of
 * `refusalResponse`.
 */
export const successResponse = <A>(result: A): SuccessResponse<DataOf<A>> => {
  const { status = 200, data, meta, headers = {} } = partsOf(result)
  const body = meta === undefined ? { success: true, data } : { success: true, data, meta }
  return { status, headers, body } as SuccessResponse<DataOf<A>>
}
