import { Effect, type Scope } from "effect"
import pg from "pg"
import { failureOf, type PgFailure } from "./PgFailure.js"

/** A statement that its connection prepares once, under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** What a statement answered: the tag, such as `COMMIT`, and the rows. */
export interface Answer {
  readonly command: string
  readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** Where the database is, and how it is spoken to. */
export interface ConnectionOptions {
  readonly url: string
  /** Shown by `pg_stat_activity`. */
  readonly name: string
  /** How long a statement waits for a lock; 0 waits as long as it lasts. */
  readonly lock_timeout_ms: number
  /** Called with what comes in on a channel that the connection listens to. */
  readonly onNotification?: (payload: string) => void
}

/** How long a connection may take to be made, in real time. */
export const CONNECT_TIMEOUT_MS = 2_000

/** How long a statement's answer may take, in real time; then the connection counts as lost. */
export const ANSWER_TIMEOUT_MS = 5_000

/** Begins a transaction. */
export const BEGIN: Statement = { name: "begin", text: "begin isolation level read committed", values: [] }
/** Ends one, and keeps what it did. */
export const COMMIT: Statement = { name: "commit", text: "commit", values: [] }
/** Ends one, and undoes what it did. */
export const ROLLBACK: Statement = { name: "rollback", text: "rollback", values: [] }

/** A connection of its own, whose statements go out together without waiting for each other's answers. */
export interface Connection {
  /** Sends statements in one go. Answers all of them, or fails with the first failure among them. */
  readonly send: (statements: ReadonlyArray<Statement>) => Effect.Effect<ReadonlyArray<Answer>, PgFailure>
  /** False once it broke: then make another one. */
  readonly isOpen: () => boolean
}

interface Pipelined extends pg.ClientConfig {
  readonly pipeline: true
}

interface Corked {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } }
}

const open = async ({ url, name, lock_timeout_ms, onNotification }: ConnectionOptions) => {
  const config: Pipelined = {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    lock_timeout: lock_timeout_ms,
    keepAlive: true,
    pipeline: true
  }
  const client = new pg.Client(config)
  let isOpen = true
  const broke = () => {
    isOpen = false
  }
  client.on("error", broke).on("end", broke)
  if (onNotification !== undefined) client.on("notification", ({ payload = "" }) => onNotification(payload))
  await client.connect()
  return { client, isOpen: () => isOpen }
}

const send = async (client: pg.Client, statements: ReadonlyArray<Statement>): Promise<ReadonlyArray<Answer>> => {
  const { stream } = (client as unknown as Corked).connection
  stream.cork()
  const sent = statements.map(({ name, text, values }) => client.query({ name, text, values: [...values] }))
  stream.uncork()
  const answers = await Promise.allSettled(sent)
  return answers.map((answer) => {
    if (answer.status === "rejected") throw answer.reason
    return answer.value
  })
}

/** Opens a connection; it is closed with the scope. */
export const connect = (options: ConnectionOptions): Effect.Effect<Connection, PgFailure, Scope.Scope> =>
  Effect.acquireRelease(Effect.tryPromise({ try: () => open(options), catch: failureOf }), ({ client, isOpen }) =>
    isOpen() ? Effect.ignoreLogged(Effect.tryPromise(() => client.end())) : Effect.void
  ).pipe(
    Effect.map(({ client, isOpen }) => ({
      send: (statements) => Effect.tryPromise({ try: () => send(client, statements), catch: failureOf }),
      isOpen
    }))
  )
