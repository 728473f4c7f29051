/**
 * Entry `@workshop/core/client`: the package `@workshop/client`, for programs that have the core installed anyway. It
 * has the same exports.
 *
 * @example
 * ```ts
 * import { createClient } from "@workshop/core/client"
 * ```
 *
 * @packageDocumentation
 */

export * from "@workshop/client"
