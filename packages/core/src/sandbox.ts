/**
 * Entry `@workshop/core/sandbox`: the clock of a sandbox, which tests move, for programs that mount the sandbox's routes
 * of `@workshop/http-node/sandbox`.
 *
 * @example
 * import { ClockAdvance, SandboxClock } from "@workshop/core/sandbox"
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
