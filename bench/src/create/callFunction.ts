import { randomUUID } from "node:crypto"
import pg from "pg"
import { IN_FLIGHT } from "./Workload.js"

/**
 * Calls the function through `pg` with a named statement, if pgbench is not installed. Returns the calls per second.
 */
export const callFunction = async (url: string, shops: ReadonlyArray<string>, seconds: number): Promise<number> => {
  const pool = new pg.Pool({ connectionString: url, max: IN_FLIGHT })
  const begun = performance.now()
  const end = begun + seconds * 1000
  let calls = 0
  const caller = async (): Promise<void> => {
    while (performance.now() < end) {
      const values = [shops[calls % shops.length], `key ${randomUUID()}`, 1_795_170_042_123]
      calls++
      await pool.query({ name: "create", text: "select create_ticket($1, $2, $3)", values })
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller))
  const took_ms = performance.now() - begun
  await pool.end()
  return (calls * 1000) / took_ms
}
