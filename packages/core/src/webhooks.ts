/**
 * Entry `@workshop/core/webhooks`: the package `@workshop/webhooks`, for programs that have the core installed anyway.
 * It has the same exports.
 *
 * @example
 * ```ts
 * import { receive } from "@workshop/core/webhooks"
 * ```
 *
 * @packageDocumentation
 */

export * from "@workshop/webhooks"
