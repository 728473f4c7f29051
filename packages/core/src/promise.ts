/** Entry `@workshop/core/promise`: the workshop by plain values and promises, for teams without Effect. */

export type { Result } from "./services/PromiseApi.js"
export { type PromiseOptions, type PromiseWorkshop, start } from "./services/PromiseWorkshop.js"
