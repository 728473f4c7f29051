import { Effect } from "effect"
import pg from "pg"
import type { Settings } from "../src/connection/SessionClient.js"
import { openMigrationSession, type Session } from "../src/migrate/Session.js"

/** A node of a plan, as `explain (analyze, buffers, format json)` prints it. */
interface Node {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Cond"?: string
  /** Undefined if the node did not run. */
  readonly "Actual Rows"?: number
  readonly "Actual Loops"?: number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  /** Pages of 8 KiB that this node and its children found in shared buffers. */
  readonly "Shared Hit Blocks"?: number
  /** Pages of 8 KiB that this node and its children read from disk. */
  readonly "Shared Read Blocks"?: number
  readonly Plans?: ReadonlyArray<Node>
}

/** A table with fewer rows fits on one or two pages, so a sequential scan is as cheap as an index. */
const SMALL = 100

/** A summary of a plan. */
export interface Plan {
  /** The tables that the statement scanned in full, without small tables. */
  readonly scanned: ReadonlyArray<string>
  /** The number of table rows that the statement read. */
  readonly looked_at: number
  /** The number of rows of the largest sort. */
  readonly sorted: number
  /**
   * The number of pages of tables and indexes that the statement read. Only this number reveals a full scan of an
   * index.
   */
  readonly pages: number
}

const nodesOf = (node: Node): ReadonlyArray<Node> => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const rowsOf = (node: Node) =>
  ((node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)) *
  (node["Actual Loops"] ?? 1)

/** Whether a node scans a table in full, or would scan it if it ran. */
const isWalk = (node: Node): boolean =>
  node["Actual Rows"] === undefined
    ? /^(Seq|Index.*) Scan$/.test(node["Node Type"]) && node["Index Cond"] === undefined
    : node["Node Type"] === "Seq Scan" && rowsOf(node) > SMALL

const planOf = (root: Node): Plan => {
  const nodes = nodesOf(root)
  const sorts = nodes.filter((node) => node["Node Type"].includes("Sort"))
  return {
    scanned: nodes.flatMap((node) => (isWalk(node) ? [node["Relation Name"] ?? ""] : [])),
    looked_at: nodes
      .filter((node) => node["Relation Name"] !== undefined && node["Node Type"].includes("Scan"))
      .reduce((sum, node) => sum + rowsOf(node), 0),
    sorted: Math.max(0, ...sorts.map((node) => (node.Plans ?? []).reduce((sum, below) => sum + rowsOf(below), 0))),
    pages: (root["Shared Hit Blocks"] ?? 0) + (root["Shared Read Blocks"] ?? 0)
  }
}

const literal = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value))
    return literal(`{${value.map((one) => (one === null ? "null" : JSON.stringify(one))).join()}}`)
  return `'${String(value).replaceAll("'", "''")}'`
}

/** Opens a session with the settings of one kind of the store's connections. */
export const openSession = (url: string, settings: Settings) =>
  Effect.tap(openMigrationSession(url), (session) =>
    session.run(
      Object.entries(settings)
        .map(([name, value]) => `set ${name} = '${value}'`)
        .join("; ")
    )
  )

type Explained = ReadonlyArray<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Node }> }>

const argumentList = (values: ReadonlyArray<unknown>) =>
  values.length === 0 ? "" : `(${values.map(literal).join(", ")})`

/** Prepares a statement in a session, with a generic plan if the session's settings require one. */
export const prepare = (session: Session, name: string, text: string, values: ReadonlyArray<unknown>) =>
  Effect.orDie(session.run(`prepare ${name} as ${text}; explain execute ${name}${argumentList(values)}`))

const explainPrepared = (session: Session, name: string, values: ReadonlyArray<unknown>): Effect.Effect<Node> => {
  const explain = (options: string) =>
    session.run(`explain (${options} format json) execute ${name}${argumentList(values)}`)
  return Effect.gen(function* () {
    yield* session.run("begin")
    const rows = yield* explain("analyze, buffers,").pipe(
      Effect.catchAll(() => Effect.zipRight(session.run("rollback"), explain(""))),
      Effect.ensuring(Effect.orDie(session.run("rollback")))
    )
    return (rows as Explained)[0]!["QUERY PLAN"][0]!.Plan
  }).pipe(Effect.orDie)
}

/**
 * Runs a prepared statement, rolls it back and returns its plan. If the statement fails, returns the estimated plan.
 */
export const runPrepared = (session: Session, name: string, values: ReadonlyArray<unknown>): Effect.Effect<Plan> =>
  Effect.map(explainPrepared(session, name, values), planOf)

const explainText = (session: Session, text: string, values: ReadonlyArray<unknown>): Effect.Effect<Node> =>
  Effect.orDie(session.run("deallocate all")).pipe(
    Effect.zipRight(prepare(session, "looked", text, values)),
    Effect.zipRight(explainPrepared(session, "looked", values))
  )

/**
 * Prepares and runs a statement, and returns its plan. A session of {@link settled} gets the plan that a store's
 * connection gets.
 */
export const explainPlan = (session: Session, text: string, values: ReadonlyArray<unknown>): Effect.Effect<Plan> =>
  Effect.map(explainText(session, text, values), planOf)

/** Describes each step of a statement that ran: the node type, its table, and the numbers of loops, rows and pages. */
export const stepsOf = (
  session: Session,
  text: string,
  values: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(explainText(session, text, values), (root) =>
    nodesOf(root).map((node) => {
      const pages = (node["Shared Hit Blocks"] ?? 0) + (node["Shared Read Blocks"] ?? 0)
      return `${node["Node Type"]} ${node["Relation Name"] ?? ""}: ${node["Actual Loops"]} times, ${rowsOf(node)} rows, ${pages} pages`
    })
  )

/** A statement that a client sent to the server. */
export interface SentStatement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** Runs `act` and returns the statements that this process sends meanwhile, including those of concurrent work. */
export const sentDuring = async (act: () => Promise<unknown>): Promise<ReadonlyArray<SentStatement>> => {
  const sent: Array<SentStatement> = []
  const query = pg.Client.prototype.query
  pg.Client.prototype.query = function (this: pg.Client, ...args: ReadonlyArray<never>) {
    const { text, values } = args[0] as unknown as Partial<SentStatement>
    if (text !== undefined) sent.push({ text, values: values ?? [] })
    return (query as (...args: ReadonlyArray<never>) => never).apply(this, args as never)
  } as never
  await act().finally(() => {
    pg.Client.prototype.query = query
  })
  return sent
}
