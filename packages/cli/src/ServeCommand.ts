import { looksLikeTestKey } from "@workshop/core"
import { isGuard, sandboxAllowed, TOKEN_CHARACTERS } from "@workshop/http-node/sandbox"
import { Effect } from "effect"
import { CommandRefused } from "./OneSentence.js"
import { type ServeFlags, serveOptions } from "./ServeOptions.js"
import { command } from "./terminal/commands.js"

const checked = ({ store, noDispatcher, sandbox, sandboxToken, demoKey, host }: ServeFlags) => {
  if (noDispatcher && store === "memory") {
    return new CommandRefused({
      message: "--no-dispatcher leaves deliveries to another process, which cannot see --store memory: leave one out."
    })
  }
  if (noDispatcher && sandbox) {
    return new CommandRefused({
      message: "The sandbox drives deliveries by its own clock: leave out --no-dispatcher, or --sandbox."
    })
  }
  if (!sandbox && sandboxToken !== null) {
    return new CommandRefused({
      message: "--sandbox-token guards the sandbox, which is off: add --sandbox, or leave the token out."
    })
  }
  if (!sandbox && demoKey !== null) {
    return new CommandRefused({
      message: "--demo-key is a key of a sandbox, which is off: add --sandbox, or leave the key out."
    })
  }
  if (demoKey !== null && !looksLikeTestKey(demoKey)) {
    return new CommandRefused({
      message: "--demo-key (or WORKSHOP_DEMO_KEY) must be wk_test_ and 8 to 64 letters, digits, - or _."
    })
  }
  // A flag's own reader would repeat the token in its sentence.
  if (sandboxToken !== null && !isGuard(sandboxToken)) {
    return new CommandRefused({
      message: `--sandbox-token (or WORKSHOP_SANDBOX_TOKEN) must have at least ${TOKEN_CHARACTERS} characters: openssl rand -hex 16 makes one.`
    })
  }
  return sandbox && !sandboxAllowed(host, sandboxToken)
    ? new CommandRefused({
        message: `The sandbox has no keys, so on ${host} it needs a token: set WORKSHOP_SANDBOX_TOKEN, or listen on 127.0.0.1.`
      })
    : undefined
}

/** `workshop serve` (Specification, Commands). The service is loaded once it is to run: help and refusals need not wait for it. */
export const serveCommand = command({
  name: "serve",
  description: "Serve the API over HTTP, until SIGTERM or SIGINT",
  examples: ["workshop serve", "workshop serve --sandbox --demo --store memory"],
  options: serveOptions,
  run: (flags) =>
    Effect.gen(function* () {
      const refused = checked(flags)
      if (refused !== undefined) return yield* refused
      const { serve } = yield* Effect.promise(() => import("./serve.js"))
      return yield* serve(flags)
    })
})
