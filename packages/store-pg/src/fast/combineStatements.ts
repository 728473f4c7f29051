/*
 * Replaces one pipelined statement for each table of a batch. `npm run bench -- saves` compares the two: to save and commit a batch of 25
 * creates took 3.13 ms in place of 3.37 ms, and one create 0.59 ms in place of 0.64 ms (docs/performance.md).
 * test/fast/combineStatements.test.ts proves that both leave the same rows.
 */

import { addTitle, type Statement } from "../connection/Statement.js"

type Text = Pick<Statement, "name" | "text">

const combinedTexts = new Map<string, Text>()

const renumberParameters = (text: string, by: number): string =>
  text.replace(/\$(\d+)/g, (_, n) => `$${Number(n) + by}`)

const combine = (statements: ReadonlyArray<Statement>, title: string): Text => {
  let values = 0
  const parts = statements.map(({ text, values: own }, i) => {
    const part = `part_${i} as (${renumberParameters(text, values)})`
    values += own.length
    return part
  })
  // The name is a number, because Postgres truncates names at 63 characters, so the names of the parts do not fit.
  const name = `combined ${combinedTexts.size + 1}`
  return { name, text: addTitle(title, `with ${parts.join(",\n")}\nselect where false`) }
}

/**
 * Combines independent statements into one with a CTE for each, because a statement costs the database and the network
 * more than its rows. A batch saves several tables in this way.
 */
export const combineStatements = (statements: ReadonlyArray<Statement>): Statement => {
  const [only, ...others] = statements
  if (only !== undefined && others.length === 0) return only
  const key = statements.map(({ name }) => name).join(", ")
  const text = combinedTexts.get(key) ?? combine(statements, key)
  combinedTexts.set(key, text)
  return { values: statements.flatMap(({ values }) => values), ...text }
}
