import * as fc from "fast-check"
import { afterEach, describe, expect, it, vi } from "vitest"
import { pooledBytes } from "../../src/fast/pooledBytes.js"

/** Replaces the system's random source by a counter, so that a test sees which bytes were returned. */
const countBytes = () => {
  let next = 0
  vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
    const bytes = array as unknown as Uint8Array
    const words = new DataView(bytes.buffer)
    for (let i = 0; i + 4 <= bytes.length; i += 4) words.setUint32(i, next++)
    return array
  })
}

afterEach(() => void vi.restoreAllMocks())

describe("random bytes from a pool", () => {
  it("a call returns as many bytes as it asks for, at each size around that of the pool", () => {
    const take = pooledBytes()
    fc.assert(
      fc.property(fc.oneof(fc.nat(64), fc.integer({ min: 8100, max: 8300 })), (n) => {
        expect(take(n)).toHaveLength(n)
      }),
      { seed: 1127, numRuns: 500 }
    )
  })

  it("no call returns bytes of the source that another call returned", () => {
    countBytes()
    const take = pooledBytes()
    const seen = new Set<number>()
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), (words) => {
        const view = new DataView(take(4 * words).buffer)
        for (let i = 0; i < words; i++) {
          expect(seen.has(view.getUint32(4 * i))).toBe(false)
          seen.add(view.getUint32(4 * i))
        }
      }),
      // The calls take the bytes of several pools.
      { seed: 1127, numRuns: 2000, endOnFailure: true }
    )
  })

  it("a caller that overwrites its bytes changes no bytes of a later call", () => {
    countBytes()
    const take = pooledBytes()
    take(8).fill(255)
    expect([...take(4)]).toEqual([0, 0, 0, 2])
  })
})
