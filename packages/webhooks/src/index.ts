/**
 * Entry `@workshop/webhooks`: for receivers of the workshop's webhooks. It checks signatures, reads typed events, and
 * signs events in tests, without dependencies.
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
export { type VerifyFailure, type VerifyOptions, type VerifyResult, verify } from "./verify.js"
