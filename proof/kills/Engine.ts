import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { migrate, moveCell } from "@workshop/store-pg/migrate"
import { Effect, Schedule } from "effect"
import { openMigrationSession } from "../../packages/store-pg/src/migrate/Session.js"
import { accountOf, Postgres } from "../torture/Servers.js"

/** A database server that can be made unavailable and brought back. */
export interface Server {
  readonly url: string
  /** The cells that become unavailable with it. */
  readonly cells: ReadonlyArray<string>
  readonly kill: () => void
  /** Starts the server again after it was killed, or promotes its standby. */
  readonly start: () => Promise<void>
  /**
   * Suspends all processes of the server: the machine still accepts connections, but nothing responds. Returns a
   * function that resumes them.
   */
  readonly stop: () => () => void
}

/** A service's database with several cells: the server of the home cell, and the servers of the other cells. */
export interface Engine {
  readonly name: string
  readonly url: string
  readonly schema: string
  readonly cells: ReadonlyArray<{ readonly name: string; readonly url?: string }>
  readonly home: Server
  readonly others: ReadonlyArray<Server>
  /** A move of a cell, if the engine can move cells, and its target server with the cells that it has afterwards. */
  readonly move?: { readonly run: () => Promise<void>; readonly server: Server }
  /** The database and the schema from which the rows of each cell are read at the end. */
  readonly places: ReadonlyArray<{ readonly cell: string; readonly url: string; readonly schema: string }>
  readonly end: () => Promise<void>
}

/** Queries a database on a new connection, and repeats the query until the database responds. */
export const ask = <Row>(url: string, sql: string): Promise<ReadonlyArray<Row>> =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(openMigrationSession(url), ({ run }) => run<Row>(sql))).pipe(
      Effect.retry(Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(1_000)))
    )
  )

/** The id of a server's first process. If that process ends, all others end too. */
const pidIn = (folder: string): number => Number(readFileSync(`${folder}/postmaster.pid`, "utf8").split("\n", 1)[0])

const childrenOf = (pid: number): ReadonlyArray<number> =>
  spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" })
    .stdout.trim()
    .split(/\s+/)
    .map(Number)

const killed = (folder: string) => () => void process.kill(pidIn(folder), "SIGKILL")

/** Suspends the first process of a server, which then starts no further ones, and then its children. */
const stopped = (folder: string) => () => {
  const first = pidIn(folder)
  const signal = (name: NodeJS.Signals) => (pid: number) => {
    try {
      process.kill(pid, name)
    } catch {
      // The process has ended meanwhile.
    }
  }
  signal("SIGSTOP")(first)
  const all = [first, ...childrenOf(first)]
  all.forEach(signal("SIGSTOP"))
  return () => all.forEach(signal("SIGCONT"))
}

/** Repeats a start, because a server can start only after the processes of the killed server have ended. */
const insisting = async (start: () => void | Promise<void>): Promise<void> => {
  for (let tries = 0; ; tries++) {
    try {
      return await start()
    } catch (error) {
      if (tries > 200) throw error
      await pause(50)
    }
  }
}

const ofTorture = (postgres: Postgres, cells: ReadonlyArray<string>): Server => ({
  url: postgres.url,
  cells,
  kill: killed(`${postgres.folder}/data`),
  stop: stopped(`${postgres.folder}/data`),
  start: () => insisting(() => postgres.up())
})

/** An engine of two servers: the home cell and a second cell on one, and a third cell on the other. */
const onTwo = async (
  name: string,
  [home, east]: readonly [Postgres, Postgres],
  urlOf: (server: Postgres) => string,
  serverOf: (server: Postgres, cells: ReadonlyArray<string>) => Server
): Promise<Engine> => {
  const [url, eastUrl] = [urlOf(home), urlOf(east)]
  const cells = [{ name: "north" }, { name: "east", url: eastUrl }]
  await Effect.runPromise(migrate(url, { cells }))
  return {
    name,
    url,
    schema: "workshop",
    cells,
    home: serverOf(home, ["home", "north"]),
    others: [serverOf(east, ["east"])],
    places: [
      { cell: "home", url, schema: "workshop" },
      { cell: "north", url, schema: "workshop_north" },
      { cell: "east", url: eastUrl, schema: "workshop" }
    ],
    end: async () => {
      home.end()
      east.end()
    }
  }
}

/** Two plain Postgres servers. */
export const plain = async (): Promise<Engine> =>
  onTwo("plain Postgres", [await Postgres.start(), await Postgres.start()], ({ url }) => url, ofTorture)

/**
 * Two plain Postgres servers, each with a synchronous standby, which is promoted once, after its primary was killed.
 */
export const followed = async (): Promise<Engine> => {
  const servers = [await Postgres.start(), await Postgres.start()] as const
  for (const server of servers) await server.follow()
  return onTwo(
    "plain Postgres with standbys",
    servers,
    // The standby is named first, because a client must skip a read-only server.
    ({ port, standbyPort }) =>
      `postgres://workshop@127.0.0.1:${standbyPort},127.0.0.1:${port}/postgres?target_session_attrs=read-write`,
    (postgres, cells) => ({ ...ofTorture(postgres, cells), start: async () => postgres.promote() })
  )
}

/** A Citus node on this machine. It is restarted under the account that runs Postgres. */
const ofCitus = async (url: string, cells: ReadonlyArray<string>): Promise<Server> => {
  const [row] = await ask<{ data_directory: string }>(url, "show data_directory")
  const folder = row!.data_directory
  const programs = dirname(readFileSync(`${folder}/postmaster.opts`, "utf8").split(" ", 1)[0]!)
  const start = () => {
    const words = ["-D", folder, "-l", `${folder}.log`, "-w", "start"]
    // HOME is set, because Citus nodes look there for certificates when they connect to each other.
    const env = { ...process.env, HOME: folder }
    const { status } = spawnSync(`${programs}/pg_ctl`, words, { cwd: "/", env, stdio: "ignore", ...accountOf() })
    if (status !== 0) throw new Error(`${folder} did not start`)
  }
  return { url, cells, kill: killed(folder), stop: stopped(folder), start: () => insisting(start) }
}

/** A Citus cluster on this machine, with three cells on two workers. */
export const citus = async (url: string): Promise<Engine> => {
  const schema = `kills_${process.pid}`
  const cells = [{ name: "north" }, { name: "south" }, { name: "west" }]
  await Effect.runPromise(migrate(url, { schema, cells }))
  const workers = await ask<{ host: string; port: number }>(
    url,
    "select nodename as host, nodeport as port from pg_dist_node where shouldhaveshards order by nodeid"
  )
  const shards = await ask<{ host: string; port: number; table: string }>(
    url,
    `select nodename as host, nodeport as port, table_name::text as table from citus_shards
      where table_name::text like '${schema}\\_%.shop'`
  )
  const cellsOf = (worker: { readonly host: string; readonly port: number }) =>
    cells
      .map(({ name }) => name)
      .filter((name) =>
        shards.some(
          ({ host, port, table }) => host === worker.host && port === worker.port && table === `${schema}_${name}.shop`
        )
      )
  const at = ({ host, port }: { readonly host: string; readonly port: number }) =>
    Object.assign(new URL(url), { hostname: host, port: String(port) }).href
  const others = await Promise.all(workers.map((worker) => ofCitus(at(worker), cellsOf(worker))))
  const [few, many] = others.toSorted((a, b) => a.cells.length - b.cells.length)
  const moved = many!.cells[0]!
  return {
    name: "Citus",
    url,
    schema,
    cells,
    home: await ofCitus(url, ["home"]),
    others,
    move: {
      run: () => Effect.runPromise(Effect.asVoid(moveCell(url, { name: moved, node: new URL(few!.url).host, schema }))),
      server: { ...few!, cells: [...few!.cells, moved] }
    },
    places: cells.map(({ name }) => ({ cell: name, url, schema: `${schema}_${name}` })),
    end: async () => {
      for (const one of [schema, ...cells.map(({ name }) => `${schema}_${name}`)])
        await ask(url, `drop schema if exists ${one} cascade`)
    }
  }
}
