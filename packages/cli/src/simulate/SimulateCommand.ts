import { Effect } from "effect"
import { refuse } from "../CommandRefused.js"
import { command } from "../terminal/commands.js"
import { type SimulateFlags, simulateOptions } from "./SimulateOptions.js"

const checkFlags = ({ store, databaseUrl, baseUrl }: SimulateFlags) => {
  if (baseUrl !== null && store !== "memory")
    return refuse("--base-url tests a running server, which has its own store. Omit --store.")
  return store === "postgres" && databaseUrl === null
    ? refuse("--store postgres needs a database. Give its address with --database-url or DATABASE_URL.")
    : undefined
}

/** `workshop simulate` (Specification, Commands). The service is loaded only when a simulation runs. */
export const simulateCommand = command({
  name: "simulate",
  examples: ["workshop simulate --seed 7", "workshop simulate --seed 7 --steps 2000 --html run.html"],
  options: simulateOptions,
  run: (flags) =>
    Effect.gen(function* () {
      const refusal = checkFlags(flags)
      if (refusal !== undefined) return yield* refusal
      const { simulate } = yield* Effect.promise(() => import("./simulate.js"))
      return yield* simulate(flags)
    })
})
