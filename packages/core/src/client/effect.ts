/** Entry `@workshop/core/client/effect`: a client of the API with Effect. */

export type { EndpointName, GroupName } from "./ClientContract.js"
export { type ApiRefusal, type EffectClient, type EffectClientOptions, make } from "./EffectClient.js"
