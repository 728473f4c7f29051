/**
 * For receivers of webhooks: signatures, typed events, and signing for tests.
 *
 * @example
 * ```ts
 * import { receive } from "@workshop/webhooks"
 * ```
 *
 * @packageDocumentation
 */

export type * from "./events.js"
export { type ReceiveResult, receive } from "./receive.js"
export { type SignOptions, sign } from "./sign.js"
export {
  DEFAULT_TOLERANCE_SECONDS,
  type VerifyFailure,
  type VerifyOptions,
  type VerifyResult,
  verify
} from "./verify.js"
