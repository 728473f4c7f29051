import { Limits } from "@workshop/core"
import { Effect } from "effect"
import { type Reply, statusReply } from "../testkit/LoopbackServer.js"
import type { ReceivedRequest } from "./Receiver.js"

/** The headers that are not forwarded, because they belong to one connection or are set again for the new request. */
const HOP_HEADERS = new Set(["host", "connection", "content-length", "transfer-encoding", "keep-alive", "expect"])

const forwardedHeadersOf = ({ headers }: ReceivedRequest): Headers => {
  const forwardedHeaders = new Headers()
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !HOP_HEADERS.has(name))
      forwardedHeaders.set(name, Array.isArray(value) ? value.join(", ") : value)
  return forwardedHeaders
}

/** Forwards requests to an address, with their signature. If it does not respond in time, the connection is cut. */
export const makeForwarder =
  (url: string) =>
  (request: ReceivedRequest): Effect.Effect<Reply> =>
    Effect.tryPromise(async (signal) => {
      const timeout = AbortSignal.timeout(Limits.webhook_timeout_ms)
      const response = await fetch(url, {
        method: "POST",
        headers: forwardedHeadersOf(request),
        body: request.body,
        redirect: "manual",
        signal: AbortSignal.any([signal, timeout])
      })
      await response.body?.cancel()
      return statusReply(response.status)
    }).pipe(Effect.orElseSucceed((): Reply => ({ kind: "cut" })))
