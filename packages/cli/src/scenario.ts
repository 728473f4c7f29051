/**
 * Entry `@workshop/cli/scenario`: the entry `@workshop/testers/scenario`, for programs that have the command installed
 * anyway. It has the same exports.
 *
 * @example
 * ```ts
 * import { runScenario } from "@workshop/cli/scenario"
 * ```
 *
 * @packageDocumentation
 */

export * from "@workshop/testers/scenario"
