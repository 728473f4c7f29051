import { describe, expect, it } from "vitest"
import {
  acceptAny,
  findOptionRefusal,
  isObject,
  mustBeBoolean,
  mustBeFunction,
  mustBePositive,
  mustBeText,
  mustHaveFields,
  requireOptions,
  unknownOptionMessage
} from "../../src/domain/OptionChecks.js"

describe("docs/embed.md: the check of an option", () => {
  const values = { none: null, zero: 0, one: 1, half: 1.5, many: 7, text: "7", yes: true, no: false, list: [], of: {} }
  it.each([
    [acceptAny, undefined, Object.keys(values)],
    [mustBePositive, "must be a whole number of at least 1", ["one", "many"]],
    [mustBeText, "must be a string", ["text"]],
    [mustBeBoolean, "must be true or false", ["yes", "no"]],
    [mustBeFunction, "must be a function", []]
  ])("the check %o refuses a wrong value with its rule: %s", (check, complaint, accepted) => {
    for (const [name, value] of Object.entries(values))
      expect([name, check(value)]).toEqual([name, accepted.includes(name) ? undefined : complaint])
  })

  it("an option that takes a function accepts any function", () => expect(mustBeFunction(() => null)).toBeUndefined())

  it("an option that takes an object refuses null and a list", () => {
    expect(Object.entries(values).filter(([, value]) => isObject(value))).toEqual([["of", {}]])
    expect(isObject(() => null)).toBe(false)
  })
})

describe("docs/embed.md: the name of an unknown option", () => {
  it("the refusal of an unknown option suggests the nearest name, or lists all names if none is near", () => {
    expect(unknownOptionMessage({ sendr: 1 }, ["store", "sender"])).toBe("has no option sendr. Did you mean sender?")
    expect(unknownOptionMessage({ x: 1 }, ["store", "sender"])).toBe("has no option x. The options are store, sender.")
    expect(unknownOptionMessage({ x: 1 }, ["a", "b"], { one: "field", many: "fields" })).toBe(
      "has no field x. The fields are a, b."
    )
  })

  it("the check returns the first unknown option, and nothing if all options are known", () => {
    expect(unknownOptionMessage({ store: 1, y: 1, x: 1 }, ["store"])).toMatch(/^has no option y\./)
    expect(unknownOptionMessage({ store: 1 }, ["store", "sender"])).toBeUndefined()
    expect(unknownOptionMessage({}, [])).toBeUndefined()
  })
})

describe("docs/embed.md: an option that has fields of its own", () => {
  const check = mustHaveFields({ keys: mustBePositive, name: mustBeText })

  it.each([
    [{ keys: 2, name: "a" }, undefined],
    [{ keys: 2 }, undefined],
    [{ keys: undefined }, undefined],
    [{}, undefined],
    ["text", "must be an object with keys, name"],
    [{ kyes: 1 }, "has no option kyes. Did you mean keys?"],
    [{ keys: 0 }, "has a keys that must be a whole number of at least 1"],
    [{ keys: 2, name: 1 }, "has a name that must be a string"],
    [{ keys: 0, other: 1 }, "has no option other. The options are keys, name."]
  ])("the option %j is checked with its fields: %s", (value, complaint) => expect(check(value)).toBe(complaint))
})

describe("docs/embed.md: options that are refused", () => {
  const checks = { size: mustBePositive, name: mustBeText }

  it.each([
    ["start", { size: 1, name: "a" }, null],
    ["start", { name: undefined }, null],
    ["start", { sise: 1 }, ["sise", "start has no option sise. Did you mean size?"]],
    ["the store", { sise: 1 }, ["sise", "The store has no option sise. Did you mean size?"]],
    ["the store", { size: 0 }, ["size", "The option size of the store must be a whole number of at least 1"]],
    ["start", { size: 1, name: 2 }, ["name", "The option name of start must be a string"]],
    ["start", { size: 0, other: 2 }, ["other", "start has no option other. The options are size, name."]],
    ["of the store", null, ["", "of the store requires an object of options"]]
  ])("refusedOption checks the options of %s in %j and returns %j", (subject, options, expected) => {
    const refused = findOptionRefusal(subject, options, checks)
    expect(refused && [refused.option, refused.message]).toEqual(expected)
    expect(refused?._tag).toBe(expected === null ? undefined : "OptionRefused")
  })

  it("refused options are thrown by a constructor, which can return nothing else, and returned by other functions", () => {
    const options = { size: 1 }
    expect(requireOptions("start", options, checks)).toBe(options)
    expect(() => requireOptions("start", { size: 0 }, checks)).toThrow("The option size of start must be")
  })
})
