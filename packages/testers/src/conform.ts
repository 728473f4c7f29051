/** Entry `@workshop/testers/conform`: the conformance suite against a running service or one in this process. */

export { runCases } from "./conform/runCases.js"
export { suite } from "./conform/Suite.js"
export type { ConformTarget } from "./conform/Target.js"
