import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Postgres, ServiceNode } from "../torture/Servers.js"

/** The size of a table and its indexes. */
export interface TableSample {
  readonly name: string
  readonly rows: number
  readonly dead_rows: number
  /** The number of dead rows above which autovacuum vacuums the table. */
  readonly vacuum_at: number
  readonly vacuums: number
  readonly table_bytes: number
  readonly index_bytes: number
}

/** The resources that a node and its database use at one moment. */
export interface Sample {
  readonly second: number
  readonly node_mib: number
  /** The private memory of the database's processes. */
  readonly postgres_mib: number
  /** Open files and sockets. */
  readonly handles: number
  readonly connections: number
  /** The age of the oldest open transaction in seconds. Autovacuum cannot remove rows that its snapshot may need. */
  readonly oldest_snapshot_s: number
  readonly tables: ReadonlyArray<TableSample>
}

const mib = (bytes: number) => Math.round(bytes / 104_857.6) / 10

const kibOf = (pid: number | string, name: string): number => {
  try {
    const [, kib] = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return Number(kib ?? 0)
  } catch {
    return 0
  }
}

/** The resident memory of a process, in MiB. */
export const memoryOf = (pid: number | undefined): number => mib(kibOf(pid ?? 0, "VmRSS") * 1024)

const handlesOf = (pid: number | undefined): number => {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** The ids of the processes of a Postgres server. */
const processesOf = (folder: string): ReadonlyArray<string> => {
  const [main = ""] = readFileSync(join(folder, "data/postmaster.pid"), "utf8").split("\n")
  const children = readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === main
    } catch {
      return false
    }
  })
  return [main, ...children]
}

/** The clock ticks per second in /proc, which are the same on every Linux that Node supports. */
const TICKS = 100

/** The processor time that processes have used so far, in seconds. */
export const processorTime = (...pids: ReadonlyArray<number | string | undefined>): number =>
  pids.reduce<number>((sum, pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
      return sum + (Number(fields[11]) + Number(fields[12])) / TICKS
    } catch {
      return sum
    }
  }, 0)

/** The processor time of a Postgres server, without processes that have ended. */
export const postgresTime = (postgres: Postgres): number => processorTime(...processesOf(postgres.folder))

const option = (name: string) =>
  `coalesce((select option_value::float8 from pg_options_to_table(c.reloptions) where option_name = '${name}'), current_setting('${name}')::float8)`

const QUERY = `select json_build_object(
  'connections', (select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()),
  'oldest_snapshot_s', (select coalesce(round(max(extract(epoch from clock_timestamp() - xact_start))::numeric, 1), 0)
    from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() and backend_xmin is not null),
  'tables', (select json_agg(json_build_object('name', c.relname, 'rows', s.n_live_tup, 'dead_rows', s.n_dead_tup,
      'vacuum_at', round(${option("autovacuum_vacuum_threshold")} + ${option("autovacuum_vacuum_scale_factor")} * greatest(c.reltuples, 0)),
      'vacuums', s.autovacuum_count, 'table_bytes', pg_table_size(c.oid), 'index_bytes', pg_indexes_size(c.oid)) order by c.relname)
    from pg_class c join pg_stat_user_tables s on s.relid = c.oid where s.schemaname = 'workshop' and c.relkind = 'r'))`

/** Measures a node and its database. */
export const sample = (node: ServiceNode, postgres: Postgres, second: number): Sample => {
  const where = ["-h", "127.0.0.1", "-p", String(postgres.port), "-U", "workshop", "-d", "postgres"]
  const state = JSON.parse(postgres.run("psql", ...where, "-At", "-c", QUERY.replaceAll("\n", " ")))
  return {
    second,
    node_mib: memoryOf(node.pid),
    postgres_mib: mib(processesOf(postgres.folder).reduce((sum, pid) => sum + kibOf(pid, "RssAnon"), 0) * 1024),
    handles: handlesOf(node.pid),
    ...state
  }
}

/** The sum of a measure over all tables. */
export const inAll = (one: Sample, name: "rows" | "dead_rows" | "table_bytes" | "index_bytes"): number =>
  one.tables.reduce((sum, table) => sum + table[name], 0)
