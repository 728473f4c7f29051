import { looksLikeTestKey } from "@workshop/core"
import { isGuard, sandboxAllowed, TOKEN_CHARACTERS } from "@workshop/http-node/sandbox"
import { Effect } from "effect"
import { CommandRefused } from "./OneSentence.js"
import { type ServeFlags, serveOptions } from "./ServeOptions.js"
import { command } from "./terminal/commands.js"

/** The flags that say where a store is which is not the chosen one. */
const unusedBy = {
  memory: ["databaseUrl", "dataDir"],
  embedded: ["databaseUrl"],
  postgres: ["dataDir"]
} as const satisfies Record<NonNullable<ServeFlags["store"]>, ReadonlyArray<keyof ServeFlags>>

/** A flag without effect would leave its writer with other data than was meant; a variable may be meant for other commands. */
const unused = (store: ServeFlags["store"], isTyped: (name: keyof ServeFlags) => boolean): string | undefined => {
  const name = store === null ? undefined : unusedBy[store].find(isTyped)
  return name === undefined
    ? undefined
    : `--store ${store} does not use ${serveOptions[name].long}: leave one of the two out.`
}

/** What cannot be asked for together, each with what to do. A decoder would repeat the token and the key in its message. */
const conflicts = (flags: ServeFlags): ReadonlyArray<readonly [isThere: boolean, message: string]> => {
  const { store, noDispatcher, sandbox, sandboxToken, demoKey, host } = flags
  return [
    [
      noDispatcher && store === "memory",
      "--no-dispatcher leaves deliveries to another process, which cannot see --store memory: leave one out."
    ],
    [
      noDispatcher && sandbox,
      "The sandbox drives deliveries by its own clock: leave out --no-dispatcher, or --sandbox."
    ],
    [
      !sandbox && sandboxToken !== null,
      "--sandbox-token guards the sandbox, which is off: add --sandbox, or leave the token out."
    ],
    [
      !sandbox && demoKey !== null,
      "--demo-key is a key of a sandbox, which is off: add --sandbox, or leave the key out."
    ],
    [
      demoKey !== null && !looksLikeTestKey(demoKey),
      "--demo-key (or WORKSHOP_DEMO_KEY) must be wk_test_ and 8 to 64 letters, digits, - or _."
    ],
    [
      sandboxToken !== null && !isGuard(sandboxToken),
      `--sandbox-token (or WORKSHOP_SANDBOX_TOKEN) must have at least ${TOKEN_CHARACTERS} characters: openssl rand -hex 16 makes one.`
    ],
    [
      sandbox && !sandboxAllowed(host, sandboxToken),
      `The sandbox has no keys, so on ${host} it needs a token: set WORKSHOP_SANDBOX_TOKEN, or listen on 127.0.0.1.`
    ]
  ]
}

/** `workshop serve` (Specification, Commands). The service is loaded once it is to run: help and refusals need not wait for it. */
export const serveCommand = command({
  name: "serve",
  examples: ["workshop serve", "workshop serve --sandbox --demo --store memory"],
  options: serveOptions,
  run: (flags, isTyped) =>
    Effect.gen(function* () {
      const [, message] = conflicts(flags).find(([isThere]) => isThere) ?? [true, unused(flags.store, isTyped)]
      if (message !== undefined) return yield* new CommandRefused({ message })
      const { serve } = yield* Effect.promise(() => import("./serve.js"))
      return yield* serve(flags)
    })
})
