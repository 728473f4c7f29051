import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { findDuplicateMembers } from "../../src/http/DuplicateMembers.js"

const duplicates = (text: string) => findDuplicateMembers(text, JSON.parse(text))

describe("a duplicate member of an object in a JSON text (Specification, Requests and responses)", () => {
  it.each([
    ['{"service":"Hem"}', []],
    ['{"service":"First","service":"Last"}', ["service"]],
    ['{"service":"Hem","service":"Hem"}', ["service"]],
    ['{ "a" : 1 ,\n "b" : [ {} , [ ] ] , "a" : 2 }', ["a"]],
    ['{"a":1,"a":2,"a":3}', ["a"]],
    ['{"a":1,"b":1,"b":2,"a":2}', ["b", "a"]],
    ['{"items":[{"label":"x"},{"label":"y","service":"z","label":"y"}]}', ["items.1.label"]],
    ['{"program":{"name":"x","name":"y"},"name":"z"}', ["program.name"]],
    ['{"a":{"b":1},"c":{"b":1}}', []],
    ['[{"a":1},{"a":1}]', []],
    ['[[1,2],{"a":[3,4],"a":[5]}]', ["1.a"]],
    ['{"a":{"b":1,"b":2},"a":1}', ["a.b", "a"]],
    ['{"a\\"b":1,"a\\"b":2}', ['a"b']],
    ['{"a":":,{\\\\","b":"}:"}', []],
    ['{"a":1,"\\u0061":2}', ["a"]],
    ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
    ['{"":1,"":2}', [""]],
    ["null", []],
    ['"a:b"', []]
  ])("duplicate members are found in %s", (text, expected) => expect(duplicates(text)).toEqual(expected))

  it("a text that JSON.stringify writes has no duplicate member", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(duplicates(JSON.stringify(value))).toEqual([])
      })
    )
  })

  it("a duplicate member is found at any place in any text", () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.array(fc.jsonValue()), (name, value, before) => {
        const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`
        expect(
          duplicates(`[${[...before, null].map((one) => JSON.stringify(one)).join()},{${member},${member}}]`)
        ).toEqual([`${before.length + 1}.${name}`])
      })
    )
  })

  it("texts as deep as 64 KiB allow are read to their end, and at most 20 duplicate members are named", () => {
    const depth = 30_000
    expect(duplicates("[".repeat(depth) + "]".repeat(depth))).toEqual([])
    expect(duplicates(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`)).toEqual([])
    const many = Array.from({ length: 2000 }, (_, i) => `"m${i}":0,"m${i}":1`)
    expect(duplicates(`{${many.join()}}`)).toHaveLength(20)
  })

  it("each repetition of a member counts, so that no text makes the check name a long path thousands of times", () => {
    const again = Array.from({ length: 19 }, () => '"a":0').join()
    expect(duplicates(`{${again},"a":0,"b":0,"b":0}`)).toEqual(["a", "b"])
    expect(duplicates(`{${again},"a":0,"a":0,"b":0,"b":0}`)).toEqual(["a"])
  })
})
