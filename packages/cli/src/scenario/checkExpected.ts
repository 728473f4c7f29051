import { operators } from "./Expectation.js"
import { isObject } from "./Mismatch.js"
import { type Problems, problemWithName } from "./problems.js"
import { follow, insteadOf, type Shape } from "./Shape.js"
import type { Path } from "./Source.js"

/** Operators whose operand is expected of the value itself; the others expect theirs of its entries. */
const OF_THE_VALUE = ["$not", "$exactly"]
const OF_ENTRIES = ["$contains", "$unordered"]

const within = (shape: Shape, field: string): Shape | undefined => {
  const found = follow(shape, [field], "")
  return "shape" in found ? found.shape : undefined
}

function* each(expected: unknown, shape: Shape | undefined, path: Path): Problems {
  if (shape === undefined) return
  if (!Array.isArray(expected)) yield* checkExpected(expected, shape, path)
  else for (const [i, one] of expected.entries()) yield* checkExpected(one, shape, [...path, i])
}

function* checkOperator(operator: string, operand: unknown, shape: Shape, path: Path): Problems {
  if (OF_THE_VALUE.includes(operator)) yield* checkExpected(operand, shape, path)
  if (OF_ENTRIES.includes(operator)) yield* each(operand, within(shape, "0"), path)
  if (operator === "$one_of") yield* each(operand, shape, path)
}

function* checkField(field: string, expected: unknown, shape: Shape, path: Path): Problems {
  const instead = insteadOf(shape, field)
  const inner = within(shape, field)
  if (instead === null) yield* inner === undefined ? [] : checkExpected(expected, inner, path)
  // What a response must not hold is expected to be absent, unless its name looks misspelt.
  else if (expected !== "$absent" || instead.includes("did you mean"))
    yield problemWithName(path, `is not known${instead}`)
}

/** Fields that are expected of something that never has them: under `$not` or `$absent` they would even be met. */
export function* checkExpected(expected: unknown, shape: Shape, path: Path): Problems {
  if (Array.isArray(expected)) yield* each(expected, within(shape, "0"), path)
  if (!isObject(expected)) return
  const fields = Object.entries(expected)
  const [[field, operand] = ["", undefined]] = fields
  if (fields.length === 1 && Object.hasOwn(operators, field))
    yield* checkOperator(field, operand, shape, [...path, field])
  else for (const [name, inner] of fields) yield* checkField(name, inner, shape, [...path, name])
}
