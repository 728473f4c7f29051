/** Entry `@workshop/core/promise`: the workshop by plain values and promises, for teams without Effect. */

export type { Result } from "./services/PromiseApi.js"
export {
  type PgClientLike,
  type PromiseOptions,
  type PromiseWorkshop,
  start,
  type Within
} from "./services/PromiseWorkshop.js"
