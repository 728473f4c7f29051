/** Entry `@workshop/core/webhooks`: the package `@workshop/webhooks`, for programs that have the core installed anyway. */

export * from "@workshop/webhooks"
