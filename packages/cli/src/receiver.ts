/**
 * Entry `@workshop/cli/receiver`: the entry `@workshop/testers/receiver`, for programs that have the command installed
 * anyway. It has the same exports.
 *
 * @example
 * ```ts
 * import { makeReceiver } from "@workshop/cli/receiver"
 * ```
 *
 * @packageDocumentation
 */

export * from "@workshop/testers/receiver"
