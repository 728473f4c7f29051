/** Entry `@workshop/core/client/effect`: a client of the API with Effect. */

export { type EffectClient, type EffectClientOptions, make, type Refused } from "./EffectClient.js"
