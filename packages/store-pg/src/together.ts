import { type Statement, titled } from "./Statement.js"

type Text = Pick<Statement, "name" | "text">

/** What was put together before, by the names of its parts; prepared names are cut at 63 characters, so each has a short one. */
const known = new Map<string, Text>()

const shifted = (text: string, by: number): string => text.replace(/\$(\d+)/g, (_, n) => `$${Number(n) + by}`)

const compose = (statements: ReadonlyArray<Statement>): Text => {
  let values = 0
  const parts = statements.map(({ text, values: own }, i) => {
    const part = `part_${i} as (${shifted(text, values)})`
    values += own.length
    return part
  })
  const title = statements.map(({ name }) => name).join(", ")
  return { name: `together ${known.size + 1}`, text: titled(title, `with ${parts.join(",\n")}\nselect where false`) }
}

/**
 * One statement that does what several would, none of which depends on another: for the database, and on the way to it,
 * a statement costs more than what it writes.
 */
export const together = (statements: ReadonlyArray<Statement>): Statement => {
  const [only, ...others] = statements
  if (only !== undefined && others.length === 0) return only
  const key = statements.map(({ name }) => name).join(", ")
  const text = known.get(key) ?? compose(statements)
  known.set(key, text)
  return { ...text, values: statements.flatMap(({ values }) => values) }
}
