/** Entry `@workshop/cli/rows`: reads a file of tickets as `workshop import` does, for programs that import. */

export { RowsUnreadable } from "./transfer/rowSource.js"
export { type FileFormat, readRows } from "./transfer/rows.js"
