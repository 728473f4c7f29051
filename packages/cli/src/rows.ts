/**
 * Entry `@workshop/cli/rows`: for programs that import tickets. It reads a file of tickets as `workshop import` does.
 *
 * @example
 * ```ts
 * import { readRows } from "@workshop/cli/rows"
 * ```
 *
 * @packageDocumentation
 */

export { RowsUnreadable } from "./transfer/rowSource.js"
export { type FileFormat, readRows } from "./transfer/rows.js"
