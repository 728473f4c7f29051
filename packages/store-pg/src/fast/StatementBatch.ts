/*
 * Replaces the driver's pipelining, which sends a Sync message after each statement. It saved a fifth of the time of a claim when it was
 * written; no benchmark measures it alone.
 */

import pg from "pg"

/**
 * The methods of the driver's connection with which a query writes to the socket. `parsedStatements` and `submittedNamedStatements` are
 * private fields of pg, and `StatementBatch.test.ts` fails without them. Tested with pg 8.23.
 */
interface Wire {
  readonly stream: { readonly cork: () => void; readonly uncork: () => void; readonly destroy: (error?: Error) => void }
  readonly sync: () => void
  readonly close: (message: { readonly type: "S"; readonly name: string }) => void
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
}

/** The part of the driver's query that a batch calls. */
interface DriverQuery {
  readonly name: string
  readonly text: string
  readonly prepare: (wire: Wire) => void
  readonly handleRowDescription: (message: unknown) => void
  readonly handleDataRow: (message: unknown) => void
  readonly handleCommandComplete: (message: unknown, wire: Wire) => void
  readonly handleReadyForQuery: (wire: Wire) => void
}

type MakeQuery = new (
  config: pg.QueryConfig & { readonly callback: (error: Error | null, result: pg.QueryResult) => void }
) => DriverQuery

const Query = pg.Query as unknown as MakeQuery

/** State that all batches of a connection share. */
interface SharedState {
  /** The connection without the Sync message that the driver's query sends after each statement. */
  readonly unsynced: Wire
  /**
   * The names of statements that the server may not have prepared, because an earlier statement of their batch failed.
   */
  readonly uncertain: Set<string>
}

const shared = new WeakMap<Wire, SharedState>()

const sharedOf = (wire: Wire): SharedState => {
  const existing = shared.get(wire)
  if (existing !== undefined) return existing
  const created = { unsynced: Object.create(wire, { sync: { value: () => undefined } }), uncertain: new Set<string>() }
  shared.set(wire, created)
  return created
}

/**
 * A batch of statements with one Sync message after all of them. So the server returns their results in one packet,
 * skips the statements after a failure, and runs statements outside of a transaction as one transaction. The driver
 * calls the methods of a batch like those of its own queries.
 */
export class StatementBatch {
  /** The results of all statements. Rejects with the first failure among them. */
  readonly results: Promise<ReadonlyArray<pg.QueryResult>>
  /** This batch calls it once, at its end. The driver wraps it for its time limit. */
  callback!: (error: Error | null, results: ReadonlyArray<pg.QueryResult>) => void
  readonly #types: pg.CustomTypesConfig
  #queries: ReadonlyArray<DriverQuery> = []
  readonly #results: Array<pg.QueryResult> = []
  #failure: Error | null = null
  /** If this is the first of several batches that are sent together, all of them. */
  #sending: ReadonlyArray<StatementBatch> = [this]
  #isSent = false
  #answered = 0

  /** @param types - Reads the values of rows. */
  constructor(
    readonly statements: ReadonlyArray<pg.QueryConfig>,
    types: pg.CustomTypesConfig
  ) {
    this.#types = types
    this.results = new Promise((resolve, reject) => {
      this.callback = (error, results) => (error === null ? resolve(results) : reject(error))
    })
  }

  /** Queues batches on a client, which sends all of them before it receives the results of the first. */
  static query(client: pg.ClientBase, batches: ReadonlyArray<StatementBatch>): void {
    const [first] = batches
    if (first !== undefined) first.#sending = batches
    for (const batch of batches) client.query(batch as unknown as pg.Submittable)
  }

  submit(wire: Wire): null {
    if (this.#isSent) return null
    wire.stream.cork()
    for (const batch of this.#sending) batch.#send(wire)
    wire.stream.uncork()
    return null
  }

  #send(wire: Wire): void {
    const { unsynced, uncertain } = sharedOf(wire)
    const callback = (error: Error | null, result: pg.QueryResult) => {
      this.#failure ??= error
      this.#results.push(result)
    }
    this.#queries = this.statements.map((one) => new Query({ types: this.#types, callback, ...one }))
    for (const query of this.#queries) {
      if (uncertain.delete(query.name)) wire.close({ type: "S", name: query.name })
      query.prepare(unsynced)
    }
    // Closes the connection, because a statement with a value that cannot be encoded was not sent, and the other
    // statements must not run without it.
    if (this.#failure !== null) wire.stream.destroy(this.#failure)
    wire.sync()
    this.#isSent = true
  }

  handleRowDescription(message: unknown): void {
    this.#queries[this.#answered]!.handleRowDescription(message)
  }

  handleDataRow(message: unknown): void {
    this.#queries[this.#answered]!.handleDataRow(message)
  }

  handleCommandComplete(message: unknown, wire: Wire): void {
    const query = this.#queries[this.#answered++]!
    query.handleCommandComplete(message, wire)
    if (wire.submittedNamedStatements[query.name] === undefined) return
    wire.parsedStatements[query.name] = query.text
    delete wire.submittedNamedStatements[query.name]
  }

  handleError(error: Error, wire: Wire): void {
    for (const { name } of this.#queries.slice(this.#answered)) {
      if (wire.submittedNamedStatements[name] === undefined) continue
      delete wire.submittedNamedStatements[name]
      sharedOf(wire).uncertain.add(name)
    }
    this.callback(error, [])
  }

  handleReadyForQuery(wire: Wire): void {
    for (const query of this.#queries) query.handleReadyForQuery(wire)
    this.callback(this.#failure, this.#results)
  }
}
