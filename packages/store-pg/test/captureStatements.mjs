// Captures the statements that the store sends, for statements.sql and for the test of their plans.
import pg from "pg"

/**
 * @typedef {object} Sent
 * @property {string} text the SQL
 * @property {string} by the application name of the connection that sends it
 * @property {Array<ReadonlyArray<unknown>>} values the parameters of each execution
 */

/** Captures the statements that all connections of this process send, grouped by text, until `stop` is called. */
export const capture = () => {
  /** @type {Map<string, Sent>} */
  const sent = new Map()
  const query = pg.Client.prototype.query
  /** @this {pg.Client} @param {any} first @param {any[]} rest */
  function watched(first, ...rest) {
    for (const one of first?.statements ?? [first]) {
      const text = typeof one === "string" ? one : one?.text
      if (typeof text !== "string") continue
      const values = (typeof one === "string" ? rest.find((one) => Array.isArray(one)) : one.values) ?? []
      const by = /** @type {any} */ (this).connectionParameters.application_name ?? ""
      /** @type {Sent} */
      const known = sent.get(text) ?? { text, by, values: [] }
      known.values.push(values)
      sent.set(text, known)
    }
    return /** @type {any} */ (query).call(this, first, ...rest)
  }
  pg.Client.prototype.query = /** @type {any} */ (watched)
  return {
    sent,
    stop: () => {
      pg.Client.prototype.query = query
    }
  }
}

/**
 * The name in a statement's leading comment, after the word workshop, or undefined without one. @param {string} text
 */
export const titleOf = (text) => /^\s*\w+ \/\* workshop (.+?) \*\//.exec(text)?.[1]
