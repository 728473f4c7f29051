import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { Entropy } from "../../src/ports/Entropy.js"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const drawn = (layer: typeof Entropy.layer, lengths: ReadonlyArray<number>) =>
  Effect.runSync(
    Effect.provide(
      Effect.map(Entropy, ({ bytes }) => lengths.map((n) => bytes(n))),
      layer
    )
  )

describe("The source of randomness", () => {
  it("the source repeats its bytes for the same seed, and only for the same", () => {
    const lengths = [13, 32, 1, 13]
    const one = drawn(Entropy.layerSeeded(7), lengths).map(hex)
    expect(drawn(Entropy.layerSeeded(7), lengths).map(hex)).toEqual(one)
    expect(drawn(Entropy.layerSeeded(8), lengths).map(hex)).not.toEqual(one)
    expect(new Set(one.filter((text) => text.length === 26)).size).toBe(2)
  })

  it("the source returns the requested number of bytes, also across the end of its pool", () => {
    const lengths = [0, 1, 13, 8191, 8192, 8193, 20_000, 13, 5000, 5000]
    expect(drawn(Entropy.layer, lengths).map(({ length }) => length)).toEqual(lengths)
  })

  it("the source never returns the same bytes twice", () => {
    const draws = drawn(Entropy.layer, Array(5000).fill(13)).map(hex)
    expect(new Set(draws).size).toBe(5000)
    // Nor does it repeat parts: any eight bytes of the whole stream occur once.
    const stream = draws.join("")
    const parts = new Set<string>()
    for (let at = 0; at + 16 <= stream.length; at += 2) parts.add(stream.slice(at, at + 16))
    expect(parts.size).toBe(stream.length / 2 - 7)
  })

  it("later draws do not change bytes that were returned before", () => {
    const draws = drawn(Entropy.layer, Array(2000).fill(13))
    const copies = draws.map((bytes) => bytes.slice())
    draws[0]!.fill(0)
    expect(draws.slice(1).map(hex)).toEqual(copies.slice(1).map(hex))
  })
})
