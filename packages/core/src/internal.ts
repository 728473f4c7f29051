/**
 * Entry `@workshop/core/internal`: the parts that the other packages of this project share, and that no embedder needs. They may change in
 * any release. It does not load `@effect/platform`, which takes half a second.
 */

export {
  type Complaint,
  checkedOptions,
  isAny,
  isBoolean,
  isFunction,
  isObject,
  isPositive,
  isText,
  type OptionChecks,
  optionRefusal
} from "./domain/OptionChecks.js"
export { CONNECTION_ENDED } from "./services/pool/PoolClient.js"
export {
  clientsInUse,
  inUse,
  isNoClient,
  poolExhaustion,
  poolsExhausted,
  recordExhaustion
} from "./services/pool/PoolExhaustion.js"
export { promiseOptions } from "./services/promise/PromiseOptions.js"
export { isStopped, WorkshopStopped } from "./services/WorkshopStopped.js"
