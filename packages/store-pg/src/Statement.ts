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

const known = new Map<string, string>()

/** The text as it is sent. Texts of prepared statements are few, so each is put together once. */
export const textOf = ({ name, text }: Omit<Statement, "values">): string => {
  if (name === "") return text
  const sent = known.get(text) ?? (text.includes("/* workshop ") ? text : titled(name, text))
  known.set(text, sent)
  return sent
}

/** A statement that is sent once, such as a change of the schema. */
export const once = (title: string, text: string): Statement => ({ name: "", text: titled(title, text), values: [] })
