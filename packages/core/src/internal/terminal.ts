/**
 * Entry `@workshop/core/internal/terminal`: the tables, colours and plurals of texts for a terminal, which the command
 * line and the testers' reports share. They may change in any release. It loads no other module of the package.
 *
 * @internal
 */

export { type Column, formatTable, shorten } from "../terminal/formatTable.js"
export { type Paint, paintColoured, paintPlain, type Tone } from "../terminal/Paint.js"
export { pluralize } from "../terminal/pluralize.js"
