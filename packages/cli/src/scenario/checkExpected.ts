import { operators } from "./Expectation.js"
import { isObject } from "./Mismatch.js"
import { type PathProblem, problemWithName } from "./problems.js"
import { follow, insteadOf, type Shape } from "./Shape.js"
import type { Path } from "./Source.js"

/** Operators whose operand is expected of the value itself; the others expect theirs of its entries. */
const OF_THE_VALUE = ["$not", "$exactly"]
const OF_ENTRIES = ["$contains", "$unordered"]

const within = (shape: Shape, field: string): Shape | undefined => {
  const found = follow(shape, [field], "")
  return "shape" in found ? found.shape : undefined
}

const each = (expected: unknown, shape: Shape | undefined, path: Path): ReadonlyArray<PathProblem> =>
  shape === undefined
    ? []
    : Array.isArray(expected)
      ? expected.flatMap((one, i) => checkExpected(one, shape, [...path, i]))
      : checkExpected(expected, shape, path)

const checkOperator = (operator: string, operand: unknown, shape: Shape, path: Path): ReadonlyArray<PathProblem> => {
  if (OF_THE_VALUE.includes(operator)) return checkExpected(operand, shape, path)
  if (OF_ENTRIES.includes(operator)) return each(operand, within(shape, "0"), path)
  return operator === "$one_of" ? each(operand, shape, path) : []
}

const checkField = (field: string, expected: unknown, shape: Shape, path: Path): ReadonlyArray<PathProblem> => {
  const instead = insteadOf(shape, field)
  const inner = within(shape, field)
  if (instead === null) return inner === undefined ? [] : checkExpected(expected, inner, path)
  // What an answer must not hold is expected to be absent, unless its name looks misspelt.
  return expected === "$absent" && !instead.includes("did you mean")
    ? []
    : [problemWithName(path, `is not known${instead}`)]
}

/** Fields that are expected of something that never has them: under `$not` or `$absent` they would even be met. */
export const checkExpected = (expected: unknown, shape: Shape, path: Path): ReadonlyArray<PathProblem> => {
  if (Array.isArray(expected)) return each(expected, within(shape, "0"), path)
  if (!isObject(expected)) return []
  const fields = Object.entries(expected)
  const [[field, operand] = ["", undefined]] = fields
  return fields.length === 1 && Object.hasOwn(operators, field)
    ? checkOperator(field, operand, shape, [...path, field])
    : fields.flatMap(([name, inner]) => checkField(name, inner, shape, [...path, name]))
}
