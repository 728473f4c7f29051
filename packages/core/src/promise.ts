/** Entry `@workshop/core/promise`: the workshop by plain values and promises, for teams without Effect. */

export { type RefusalResponse, refusalResponse } from "./http/refusalResponse.js"
export { type OrThrow, type Result, unwrap } from "./services/PromiseApi.js"
export {
  type CheckedText,
  type ForbiddenText,
  type LogLine,
  OptionRefused,
  type PromiseOptions,
  type RetentionOption
} from "./services/PromiseOptions.js"
export type { PlainImport, PlainImportRow } from "./services/PromiseTransfers.js"
export {
  type PgClientLike,
  type PromiseWorkshop,
  type Readiness,
  start,
  type Within
} from "./services/PromiseWorkshop.js"
