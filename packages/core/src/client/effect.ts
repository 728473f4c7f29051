/**
 * Entry `@workshop/core/client/effect`: for programs with Effect that call a running service. It has a client that is
 * derived from the API's contract, with typed errors, and the types of its options and refusals.
 *
 * @example
 * ```ts
 * import * as WorkshopClient from "@workshop/core/client/effect"
 * ```
 *
 * @packageDocumentation
 */

export type { EndpointName, GroupName } from "./ClientContract.js"
export { type ApiRefusal, type EffectClient, type EffectClientOptions, make } from "./EffectClient.js"
