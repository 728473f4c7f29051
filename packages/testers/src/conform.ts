/** Entry `@workshop/testers/conform`: the conformance suite against a running service or one in this process. */

export { type Case, type Section, sections } from "./conform/Case.js"
export type { CaseFailure, CaseResult } from "./conform/Report.js"
export { runCases } from "./conform/runCases.js"
export { suite } from "./conform/Suite.js"
export { type ConformTarget, findTarget, type TargetAddress } from "./conform/Target.js"
export type { Api, ApiResponse, CallOptions, EnvironmentFailed, Exchange, Fetch, NoResponse } from "./testkit/Api.js"
