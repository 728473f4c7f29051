/**
 * Entry `@workshop/cli/simulate`: the entry `@workshop/testers/simulate`, for programs that have the command installed
 * anyway. It has the same exports.
 *
 * @example
 * ```ts
 * import { simulateStore } from "@workshop/cli/simulate"
 * ```
 *
 * @packageDocumentation
 */

export * from "@workshop/testers/simulate"
