import type { Arrived } from "./Received.js"

/** What a receiver does with a request that is in order, once it has checked it. */
export type Answer =
  /** Answers with a status and nothing else. */
  | { readonly kind: "status"; readonly status: number }
  /** Answers 307 and names another address, which nobody is to follow (Specification, Webhooks). */
  | { readonly kind: "redirect"; readonly to: string }
  /** Answers 200 with a body that never ends. */
  | { readonly kind: "endless" }
  /** Answers 200 with a body that comes a byte a second, without an end. */
  | { readonly kind: "trickle" }
  /** Says nothing at all and keeps the connection. */
  | { readonly kind: "silent" }
  /** Cuts the connection without a word. */
  | { readonly kind: "cut" }

/** How a receiver behaves. */
export interface Behaviour {
  /** One for all, or chosen for each request: it is asked once, when the request is complete. */
  readonly answer: Answer | ((request: Arrived) => Answer)
  /** How long it waits before the status line, in real milliseconds. */
  readonly delay_ms: number
  /** The share of requests, 0 to 1, to which it answers 500 instead; which ones follows from the receiver's seed. */
  readonly fail_share: number
}

/** Answers with a status. */
export const saying = (status: number): Answer => ({ kind: "status", status })

/** A receiver in good health: 200, at once, always. */
export const healthy: Behaviour = { answer: saying(200), delay_ms: 0, fail_share: 0 }

/** Whether an answer acknowledges the event, so that it does not come again (Specification, Webhooks). */
export const acknowledges = (answer: Answer): boolean =>
  answer.kind === "status"
    ? answer.status >= 200 && answer.status < 300
    : answer.kind === "endless" || answer.kind === "trickle"
