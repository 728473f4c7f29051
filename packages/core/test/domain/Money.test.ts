import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import {
  AmountMinor,
  Currency,
  computeRemaining,
  Decimals,
  depositExceedsPrice,
  isKnownCurrency,
  Money,
  usualDecimals
} from "../../src/domain/Money.js"

const accepts = <A, I>(schema: Schema.Schema<A, I>) => {
  const read = Schema.decodeUnknownEither(schema)
  return (value: unknown) => Either.isRight(read(value))
}

describe("Specification, Tickets: money", () => {
  it("the remaining amount is the price less the deposit, and a missing deposit counts as 0 (Specification, Tickets)", () => {
    expect(computeRemaining(5000, 1000)).toBe(4000)
    expect(computeRemaining(5000, null)).toBe(5000)
    expect(computeRemaining(5000, 0)).toBe(5000)
    expect(computeRemaining(5000, 5000)).toBe(0)
    expect(computeRemaining(0, null)).toBe(0)
  })

  it("the remaining amount is null if there is no price (Specification, Tickets)", () => {
    expect(computeRemaining(null, 1000)).toBeNull()
    expect(computeRemaining(null, null)).toBeNull()
  })

  it("a deposit may equal the price but not exceed it, and each may be given alone (Specification, Tickets)", () => {
    expect(depositExceedsPrice(5, 6)).toBe(true)
    expect(depositExceedsPrice(5, 5)).toBe(false)
    expect(depositExceedsPrice(0, 1)).toBe(true)
    expect(depositExceedsPrice(null, 6)).toBe(false)
    expect(depositExceedsPrice(5, null)).toBe(false)
  })

  it("amounts are integers from 0 to 1,000,000,000,000 (Specification, Tickets)", () => {
    const amount = accepts(AmountMinor)
    expect([0, 1, 1_000_000_000_000].every(amount)).toBe(true)
    expect([-1, 0.5, 1_000_000_000_001, Number.NaN, Number.POSITIVE_INFINITY, "1", null].some(amount)).toBe(false)
  })

  it("a currency is three capital letters, with 0 to 4 decimals (Specification, Requests and responses)", () => {
    expect(["TND", "EUR", "JPY"].every(accepts(Currency))).toBe(true)
    expect(["tnd", "EURO", "E", "", " EUR", "EUR\n"].some(accepts(Currency))).toBe(false)
    expect([0, 2, 3, 4].every(accepts(Decimals))).toBe(true)
    expect([-1, 5, 2.5].some(accepts(Decimals))).toBe(false)
  })

  it("the money of a response has all its fields (Specification, Resources)", () => {
    const unknown = { price_minor: null, deposit_minor: null, remaining_minor: null, before_minor: null }
    expect(Schema.is(Money)({ currency: "TND", decimals: 3, ...unknown })).toBe(true)
    expect(Schema.is(Money)({ currency: "TND", decimals: 3 })).toBe(false)
  })

  it("the decimals of a currency agree with ISO 4217 (Specification, Requests and responses)", () => {
    expect(["TND", "EUR", "JPY"].map(usualDecimals)).toEqual([3, 2, 0])
    expect(["TND", "EUR", "JPY", "ABC"].map(isKnownCurrency)).toEqual([true, true, true, false])
  })
})
