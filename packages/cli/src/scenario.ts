/** Entry `@workshop/cli/scenario`: the entry `@workshop/testers/scenario`, for programs that have the command installed anyway. */

export * from "@workshop/testers/scenario"
