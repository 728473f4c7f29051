import { Limits } from "@workshop/core"
import { Effect } from "effect"
import { type Reply, statusReply } from "../testkit/LoopbackServer.js"
import type { ReceivedRequest } from "./Receiver.js"

/** The headers that are not forwarded, because they belong to one connection or are set again for the new request. */
const LEFT_OUT = new Set(["host", "connection", "content-length", "transfer-encoding", "keep-alive", "expect"])

const headersOf = ({ headers }: ReceivedRequest): Headers => {
  const kept = new Headers()
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !LEFT_OUT.has(name)) kept.set(name, Array.isArray(value) ? value.join(", ") : value)
  return kept
}

/** Forwards requests to an address, with their signature. If it does not respond in time, the connection is cut. */
export const forwardTo =
  (url: string) =>
  (request: ReceivedRequest): Effect.Effect<Reply> =>
    Effect.tryPromise(async (signal) => {
      const timeout = AbortSignal.timeout(Limits.webhook_timeout_ms)
      const response = await fetch(url, {
        method: "POST",
        headers: headersOf(request),
        body: request.body,
        redirect: "manual",
        signal: AbortSignal.any([signal, timeout])
      })
      await response.body?.cancel()
      return statusReply(response.status)
    }).pipe(Effect.orElseSucceed((): Reply => ({ kind: "cut" })))
