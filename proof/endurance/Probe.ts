import { readdirSync, readFileSync } from "node:fs"
import type { Postgres, ServiceNode } from "../torture/Servers.js"

/** What is measured at one moment; null where this machine does not tell. */
export interface Sample {
  readonly second: number
  readonly requests_per_s: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly rss_mib: number | null
  readonly handles: number | null
  readonly connections: number | null
  readonly tables_mib: number | null
  readonly indexes_mib: number | null
  readonly dead_rows: number | null
}

/** A share of sorted numbers, such as the median. */
export const quantile = (all: ReadonlyArray<number>, share: number): number => {
  const sorted = [...all].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** The resident memory of a process, in MiB. */
export const memoryOf = (pid: number | undefined): number | null => {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return kib === undefined ? null : Math.round(Number(kib) / 102.4) / 10
  } catch {
    return null
  }
}

const handlesOf = (pid: number | undefined): number | null => {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return null
  }
}

const SIZES = `select (select count(*) from pg_stat_activity where backend_type = 'client backend'),
  (select coalesce(sum(pg_table_size(c.oid)), 0) from pg_class c where c.relkind = 'r' and c.relnamespace = 'workshop'::regnamespace),
  (select coalesce(sum(pg_relation_size(c.oid)), 0) from pg_class c where c.relkind = 'i' and c.relnamespace = 'workshop'::regnamespace),
  (select coalesce(sum(n_dead_tup), 0) from pg_stat_user_tables where schemaname = 'workshop')`

const sizesOf = (postgres: Postgres): ReadonlyArray<number | null> => {
  try {
    const where = ["-h", "127.0.0.1", "-p", String(postgres.port), "-U", "workshop", "-d", "postgres"]
    return postgres
      .run("psql", ...where, "-At", "-F", " ", "-c", SIZES)
      .trim()
      .split(" ")
      .map(Number)
  } catch {
    return [null, null, null, null]
  }
}

const mib = (bytes: number | null | undefined): number | null =>
  bytes === null || bytes === undefined ? null : Math.round(bytes / 104_857.6) / 10

/** Measures a node and its database, and what its clients waited since the last time. */
export const sample = (
  node: ServiceNode,
  postgres: Postgres,
  second: number,
  waits: ReadonlyArray<number>,
  seconds: number
): Sample => {
  const [connections = null, tables, indexes, dead_rows = null] = sizesOf(postgres)
  return {
    second,
    requests_per_s: Math.round(waits.length / seconds),
    p50_ms: Math.round(quantile(waits, 0.5) * 10) / 10,
    p99_ms: Math.round(quantile(waits, 0.99) * 10) / 10,
    rss_mib: memoryOf(node.pid),
    handles: handlesOf(node.pid),
    connections,
    tables_mib: mib(tables),
    indexes_mib: mib(indexes),
    dead_rows
  }
}
