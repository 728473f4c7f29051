import type { SendError } from "@workshop/core"
import { Data } from "effect"

/** There is no answer: why, and the system's name for it where it has one. */
export class NotSent extends Data.TaggedError("NotSent")<{
  readonly error: SendError
  readonly detail: string | null
}> {}

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/

/** The code of an error of Node's. Only codes are told on: messages may quote what a stranger sent. */
export const codeOf = (cause: unknown): string | null =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" && CODE.test(cause.code)
    ? cause.code
    : null

/** A {@link NotSent} for an error of Node's. */
export const notSent = (error: SendError, cause?: unknown): NotSent => new NotSent({ error, detail: codeOf(cause) })
