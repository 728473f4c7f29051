/** Entry `@workshop/cli/conform`: the entry `@workshop/testers/conform`, for programs that have the command installed anyway. */

export * from "@workshop/testers/conform"
