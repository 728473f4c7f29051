/** Entry `@workshop/core/client`: the package `@workshop/client`, for programs that have the core installed anyway. */

export * from "@workshop/client"
