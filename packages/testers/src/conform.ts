/**
 * Entry `@workshop/testers/conform`: for tests of a server of the specification. It has the conformance suite, and the
 * function that runs its cases against a running service or one in this process.
 *
 * @example
 * ```ts
 * import { findTarget, runCases, suite } from "@workshop/testers/conform"
 * ```
 *
 * @packageDocumentation
 */

export { type Case, type Section, sections } from "./conform/Case.js"
export type { CaseFailure, CaseResult } from "./conform/Report.js"
export { runCases } from "./conform/runCases.js"
export { suite } from "./conform/Suite.js"
export { type ConformTarget, findTarget, type TargetAddress } from "./conform/Target.js"
export type { Api, ApiResponse, CallOptions, EnvironmentFailed, Exchange, Fetch, NoResponse } from "./testkit/Api.js"
