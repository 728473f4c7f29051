/**
 * Entry `@workshop/core/sandbox`: for programs that mount the sandbox's routes of `@workshop/http-node/sandbox`. It has
 * the clock of a sandbox, which tests move, and the service that moves it.
 *
 * @example
 * ```ts
 * import { ClockAdvance, SandboxClock } from "@workshop/core/sandbox"
 * ```
 *
 * @packageDocumentation
 */

export {
  ClockAdvance,
  ClockMove,
  type ClockMoveResult,
  type ClockState,
  type DueWork,
  type MovableClock,
  type NextDue,
  SandboxClock
} from "./services/clock/ClockAdvance.js"
