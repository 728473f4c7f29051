import { type ShopId, StoreUnavailable } from "@workshop/core"
import { Cause, Effect, Exit, Scope } from "effect"
import { describe, expect, it } from "vitest"
import type { QueuedCommand } from "../src/commands/CommandQueue.js"
import { makeLane } from "../src/commands/Lane.js"
import { unencryptedSecrets } from "../src/secrets/WebhookSecrets.js"

const NOWHERE = "postgres://nobody@127.0.0.1:1/nowhere"

/** The error of a failed command; undefined while the command waits. */
const why = (exit: Exit.Exit<unknown, unknown> | undefined) => {
  if (exit === undefined || Exit.isSuccess(exit)) return exit
  const failure = Cause.squash(exit.cause)
  return failure instanceof StoreUnavailable ? String(failure.cause) : failure
}

const commands = (n: number) => {
  const exits: Array<Exit.Exit<unknown, unknown> | undefined> = Array(n).fill(undefined)
  const entries = exits.map(
    (_, i): QueuedCommand => ({
      command: { shop_id: "shop" as ShopId, loadRequests: [], run: () => Exit.die("No test runs a command") as never },
      moment: () => ({ now: 0, entropy: new Uint8Array() }),
      isExpired: () => false,
      settle: (exit) => {
        exits[i] ??= exit
      }
    })
  )
  return { entries, exits }
}

const open = Effect.gen(function* () {
  const life = yield* Scope.make()
  const connection = { url: NOWHERE, name: "a test", lock_timeout_ms: 0 }
  const lane = yield* Scope.extend(
    makeLane({ connection, kind: { isContended: true }, secrets: unencryptedSecrets, onCommit: () => undefined }),
    life
  )
  return { ...lane, close: Scope.close(life, Exit.void) }
})

describe("a lane", () => {
  it("a lane fails a shop's 1,001st waiting command immediately, and the first 1,000 keep waiting", () =>
    Effect.gen(function* () {
      const { offer, waitingCount, close } = yield* open
      const { entries, exits } = commands(1_001)
      for (const entry of entries) offer(entry)
      expect(waitingCount()).toBe(1_000)
      expect(exits.slice(0, 1_000)).toEqual(Array(1_000).fill(undefined))
      expect(why(exits[1_000])).toBe("Error: Too many commands wait for their turn")
      yield* close
    }).pipe(Effect.runPromise))

  it("a closing lane fails waiting and later commands, so that no command waits forever", () =>
    Effect.gen(function* () {
      const { offer, close } = yield* open
      const { entries, exits } = commands(3)
      for (const entry of entries.slice(0, 2)) offer(entry)
      yield* close
      for (const entry of entries.slice(2)) offer(entry)
      expect(exits.map(why)).toEqual(Array(3).fill("Error: The store is closing"))
    }).pipe(Effect.runPromise))
})
