import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { IN_FLIGHT, SHOPS } from "./Workload.js"

const DEBIAN = "/usr/lib/postgresql"

/** The path of pgbench: on PATH, or in the folder of Debian's packages; undefined if it is not installed. */
export const findPgbench = (): string | undefined => {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => `${DEBIAN}/${version}/bin`) : []
  const places = [...(process.env.PATH ?? "").split(":"), ...debian.reverse()]
  return places.map((place) => join(place, "pgbench")).find((path) => existsSync(path))
}

const SCRIPT = `\\set n random(1, ${SHOPS})
\\set key random(1, 1000000000000)
\\set now random(1, 1000)
select create_ticket((select id from peer_shop where n = :n), 'key ' || :key, 1795170042123 + :now);
`

/**
 * Runs pgbench, which calls the function for some seconds over as many connections as we have creates in flight.
 * Returns the calls per second.
 */
export const runPgbench = async (pgbench: string, url: string, seconds: number): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "workshop-pgbench-"))
  const script = join(folder, "create.sql")
  writeFileSync(script, SCRIPT)
  const options = ["-n", "-M", "prepared", "-c", String(IN_FLIGHT), "-j", "2", "-T", String(seconds), "-f", script, url]
  try {
    const { stdout } = await promisify(execFile)(pgbench, options)
    const match = /^tps = ([\d.]+)/m.exec(stdout)
    if (match === null) throw new Error(`pgbench printed: ${stdout}`)
    return Number(match[1])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
