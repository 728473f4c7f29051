import { expect, it } from "vitest"
import { jsonText, resultText } from "../../src/fast/jsonText.js"

/** A value that counts how often it is written as JSON. */
const counted = () => {
  let times = 0
  const value = {
    toJSON: () => {
      times++
      return { number: 7 }
    }
  }
  return { value, times: () => times }
}

it("the text of a result is made once for its event, for repetitions and for the response", () => {
  const { value, times } = counted()
  expect([resultText(value), resultText(value), jsonText(value)]).toEqual(Array(3).fill('{"number":7}'))
  expect(times()).toBe(1)
})

it("the text of another result takes its place", () => {
  const [one, two] = [counted(), { number: 8 }]
  expect([resultText(one.value), resultText(two), jsonText(two), resultText(one.value)]).toEqual([
    '{"number":7}',
    '{"number":8}',
    '{"number":8}',
    '{"number":7}'
  ])
})

it("a value that is no result is written as it is now", () => {
  const value = { number: 1 }
  expect(jsonText(value)).toBe('{"number":1}')
  value.number = 2
  expect(jsonText(value)).toBe('{"number":2}')
})

it("a text or null in an event does not take the place of the result", () => {
  const { value, times } = counted()
  expect([resultText(value), resultText("call"), resultText(null), resultText(value)]).toEqual([
    '{"number":7}',
    '"call"',
    "null",
    '{"number":7}'
  ])
  expect(times()).toBe(1)
})
