import { inSchema } from "./Schema.js"

/** A statement, which a connection prepares once under its name. */
export interface Statement {
  /** Empty for a statement that is sent once and not prepared. */
  readonly name: string
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

const FIRST_WORD = /^\s*(\w+)/

/**
 * Adds a statement's name to its text in a comment, so that `pg_stat_statements` and the server's log show the names in
 * this program's sources. The comment follows the first word, because Postgres 18 removes comments before it.
 */
export const addTitle = (title: string, text: string): string => text.replace(FIRST_WORD, `$1 /* workshop ${title} */`)

const cachedTexts = new Map<string, Map<string, string>>()

/** Returns the text of a statement for a schema. Each text is built once and cached, because there are few. */
export const textsIn = (schema: string): ((statement: Omit<Statement, "values">) => string) => {
  const ofSchema = cachedTexts.get(schema) ?? new Map<string, string>()
  cachedTexts.set(schema, ofSchema)
  return ({ name, text }) => {
    if (name === "") return inSchema(text, schema)
    const sent = ofSchema.get(text)
    if (sent !== undefined) return sent
    const schemaText = inSchema(text.includes("/* workshop ") ? text : addTitle(name, text), schema)
    ofSchema.set(text, schemaText)
    return schemaText
  }
}

/** A statement that is sent once, such as a change of the schema. */
export const unnamedStatement = (title: string, text: string): Statement => ({
  name: "",
  text: addTitle(title, text),
  values: []
})
