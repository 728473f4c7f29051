/** Entry `@workshop/cli/receiver`: the entry `@workshop/testers/receiver`, for programs that have the command installed anyway. */

export * from "@workshop/testers/receiver"
