/** Entry `@workshop/cli/simulate`: the entry `@workshop/testers/simulate`, for programs that have the command installed anyway. */

export * from "@workshop/testers/simulate"
