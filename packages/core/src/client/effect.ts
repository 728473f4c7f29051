/** Entry `@workshop/core/client/effect`: a client of the API by Effects. */

export { type EffectClient, type EffectClientOptions, make, type Refused } from "./EffectClient.js"
