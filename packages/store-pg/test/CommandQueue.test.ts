import type { ShopId } from "@workshop/core"
import type { LoadRequest } from "@workshop/core/store"
import { describe, expect, it } from "vitest"
import { CommandQueue, type QueuedCommand } from "../src/commands/CommandQueue.js"

/**
 * Parses commands: `a1` is a command of shop a, `A1` is a replay step of shop a, and a command whose name ends in `!`
 * has expired.
 */
const entries = (names: string): ReadonlyArray<QueuedCommand & { readonly name: string }> =>
  names.split(" ").map((name) => ({
    name,
    command: {
      shop_id: name.charAt(0).toLowerCase() as ShopId,
      loadRequests: /^[A-Z]/.test(name) ? [{ _tag: "Replay" } as LoadRequest] : [],
      run: () => {
        throw new Error("No test runs a command")
      }
    },
    moment: () => ({ now: 0, entropy: new Uint8Array() }),
    isExpired: () => name.endsWith("!"),
    settle: () => undefined
  }))

const waiting = (names: string): CommandQueue => {
  const queue = new CommandQueue()
  for (const entry of entries(names)) queue.add(entry)
  return queue
}

const named = (taken: ReadonlyArray<QueuedCommand>): string =>
  (taken as ReadonlyArray<QueuedCommand & { readonly name: string }>).map(({ name }) => name).join(" ")

const times = (n: number, shop: string) => Array.from({ length: n }, (_, i) => `${shop}${i + 1}`).join(" ")

describe("the waiting commands of a lane", () => {
  it("a batch takes one command of each shop in turn", () => {
    expect(named(waiting("a1 a2 a3 b1 c1 c2").take())).toBe("a1 b1 c1 a2 c2 a3")
  })

  it("a batch has at most 128 commands, and the next batch begins with the shop that follows in the rotation", () => {
    const queue = waiting(`${times(200, "a")} b1`)
    expect(queue.take()).toHaveLength(128)
    for (const entry of entries("c1")) queue.add(entry)
    expect(named(queue.take()).split(" ").slice(0, 3)).toEqual(["a128", "c1", "a129"])
    const ofManyShops = Array.from({ length: 130 }, (_, i) => `${String.fromCharCode(0x3042 + i)}1`).join(" ")
    expect(waiting(ofManyShops).take()).toHaveLength(128)
  })

  it("the queue accepts at most 1,000 commands of one shop and 10,000 in all", () => {
    const queue = waiting(times(1_000, "a"))
    const [refused] = entries("a1001")
    expect(queue.add(refused!)).toBe(false)
    for (const shop of "bcdefghij") for (const entry of entries(times(1_000, shop))) queue.add(entry)
    expect([queue.count, queue.add(entries("k1")[0]!)]).toEqual([10_000, false])
    queue.putBack([refused!])
    expect(queue.count).toBe(10_001)
  })

  it("a replay step is its shop's only command in a batch, and delays no other shop", () => {
    const queue = waiting("a1 A2 a3 B1 b2 c1")
    expect(named(queue.take())).toBe("a1 B1 c1")
    expect(named(queue.take())).toBe("A2 b2")
    expect(named(queue.take())).toBe("a3")
  })

  it("the contended lane batches commands of one shop at a time, and moves the rest of a busy shop behind the other shops", () => {
    const queue = waiting(`${times(130, "a")} b1 B2 b3`)
    const held = queue.takeOfOneShop()
    expect(held).toHaveLength(128)
    queue.putBack(held)
    expect(named(queue.takeOfOneShop())).toBe("b1")
    expect(queue.takeOfOneShop()).toEqual(held)
    expect(named(queue.takeOfOneShop())).toBe("B2")
    expect(named(queue.takeOfOneShop())).toBe("a129 a130")
    expect([named(queue.takeOfOneShop()), queue.count]).toEqual(["b3", 0])
  })

  it("commands that a lane puts back precede all others of their shop, in their previous order", () => {
    const queue = waiting("a1 b1 a2")
    const taken = queue.take()
    for (const entry of entries("a3")) queue.add(entry)
    queue.putBack(taken)
    expect(named(queue.take())).toBe("a1 b1 a2 a3")
  })

  it("expired and withdrawn commands are removed from the queue", () => {
    const queue = waiting("a1! a2! a3 b1! c1")
    expect(named(queue.takeExpired())).toBe("a1! a2! b1!")
    expect([queue.has("b" as ShopId), queue.count]).toEqual([false, 2])
    const [stranger] = entries("c1")
    expect(queue.withdraw(stranger!)).toBe(false)
    const taken = queue.takeAll()
    expect([named(taken), queue.count, queue.withdraw(taken[0]!)]).toEqual(["a3 c1", 0, false])
    queue.putBack(taken)
    expect([queue.withdraw(taken[0]!), queue.has("a" as ShopId), queue.count]).toEqual([true, false, 1])
  })
})
