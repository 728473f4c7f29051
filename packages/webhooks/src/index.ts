/** For receivers of the workshop's webhooks: checks signatures, reads typed events, and signs events in tests. Without dependencies. */

export type * from "./events.js"
export { type ReceiveResult, receive } from "./receive.js"
export { type SignOptions, sign } from "./sign.js"
export { type VerifyFailure, type VerifyOptions, type VerifyResult, verify } from "./verify.js"
