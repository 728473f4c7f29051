import { inSchema } from "./Schema.js"

/** A statement that its connection prepares once, under its name. */
export interface Statement {
  /** Empty for one that is not prepared, as it is sent once. */
  readonly name: string
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

const FIRST_WORD = /^\s*(\w+)/

/**
 * A statement's text with its name in a comment, so that `pg_stat_statements` and the server's log show names that this
 * program's sources have too. Behind the first word, as Postgres 18 cuts off what precedes it.
 */
export const titled = (title: string, text: string): string => text.replace(FIRST_WORD, `$1 /* workshop ${title} */`)

const known = new Map<string, Map<string, string>>()

/** The texts as they are sent to the tables of a schema. Texts of prepared statements are few, so each is put together once. */
export const textsIn = (schema: string): ((statement: Omit<Statement, "values">) => string) => {
  const ofSchema = known.get(schema) ?? new Map<string, string>()
  known.set(schema, ofSchema)
  return ({ name, text }) => {
    if (name === "") return inSchema(text, schema)
    const sent = ofSchema.get(text)
    if (sent !== undefined) return sent
    const made = inSchema(text.includes("/* workshop ") ? text : titled(name, text), schema)
    ofSchema.set(text, made)
    return made
  }
}

/** A statement that is sent once, such as a change of the schema. */
export const once = (title: string, text: string): Statement => ({ name: "", text: titled(title, text), values: [] })

type Text = Pick<Statement, "name" | "text">

const combinedTexts = new Map<string, Text>()

const shifted = (text: string, by: number): string => text.replace(/\$(\d+)/g, (_, n) => `$${Number(n) + by}`)

const combine = (statements: ReadonlyArray<Statement>, title: string): Text => {
  let values = 0
  const parts = statements.map(({ text, values: own }, i) => {
    const part = `part_${i} as (${shifted(text, values)})`
    values += own.length
    return part
  })
  // Postgres cuts names at 63 characters, so the parts cannot be the name.
  const name = `together ${combinedTexts.size + 1}`
  return { name, text: titled(title, `with ${parts.join(",\n")}\nselect where false`) }
}

/**
 * Combines independent statements into one. A batch of several tables saves that way because for the database, and on the way to
 * it, a statement costs more than the rows that it writes.
 */
export const combined = (statements: ReadonlyArray<Statement>): Statement => {
  const [only, ...others] = statements
  if (only !== undefined && others.length === 0) return only
  const key = statements.map(({ name }) => name).join(", ")
  const text = combinedTexts.get(key) ?? combine(statements, key)
  combinedTexts.set(key, text)
  return { ...text, values: statements.flatMap(({ values }) => values) }
}
