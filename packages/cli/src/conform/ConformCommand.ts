import { Effect } from "effect"
import { refuse } from "../CommandRefused.js"
import { command } from "../terminal/commands.js"
import { conformOptions } from "./ConformOptions.js"

/** `workshop conform` (Specification, Commands). The cases are loaded only when they run. */
export const conformCommand = command({
  name: "conform",
  examples: [
    "workshop conform --base-url http://127.0.0.1:4010",
    "WORKSHOP_CONFORM_KEY_FILE=key.txt workshop conform --base-url https://api.example.com/v1 --junit conform.xml",
    "workshop conform --base-url http://127.0.0.1:4010 --section §3 --html conform.html",
    "workshop conform --list"
  ],
  options: conformOptions,
  run: (flags) =>
    Effect.gen(function* () {
      const { conform, listCases } = yield* Effect.promise(() => import("./conform.js"))
      if (flags.list) return yield* listCases(flags)
      if (flags.baseUrl === null) {
        return yield* refuse(
          "Give the address of the server to test, such as --base-url http://127.0.0.1:4010. To list the cases, use --list."
        )
      }
      return yield* conform(flags, flags.baseUrl)
    })
})
