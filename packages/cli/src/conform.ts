/**
 * Entry `@workshop/cli/conform`: the entry `@workshop/testers/conform`, for programs that have the command installed
 * anyway. It has the same exports.
 *
 * @example
 * ```ts
 * import { findTarget, runCases, suite } from "@workshop/cli/conform"
 * ```
 *
 * @packageDocumentation
 */

export * from "@workshop/testers/conform"
