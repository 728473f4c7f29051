import type { SendError } from "@workshop/core"
import { Data } from "effect"

/** The failure of an attempt without a response: the reason, and the system's error code if there is one. */
export class SendFailed extends Data.TaggedError("SendFailed")<{
  readonly error: SendError
  readonly detail: string | null
}> {}

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/

/** The code of a Node error. Its message is not used, because it may contain data that the receiver sent. */
export const codeOf = (cause: unknown): string | null =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" && CODE.test(cause.code)
    ? cause.code
    : null

/** A {@link SendFailed} for a Node error. */
export const sendFailed = (error: SendError, cause?: unknown): SendFailed =>
  new SendFailed({ error, detail: codeOf(cause) })
