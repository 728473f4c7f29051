import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { livingPid, processMark } from "../packages/store-pg/src/embedded/ProcessId.js"

const FOLDER = "workshop-test-"

const MEMORY = "/dev/shm"

/** The free memory in bytes that a run needs: twice the size of its largest files together. */
const ENOUGH = 6 * 2 ** 30

/** True if programs in `/dev/shm` can run. Containers often mount it with `noexec`. */
const runsPrograms = (): boolean =>
  readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .some((line) => line.split(" ")[1] === MEMORY && !/\bnoexec\b/.test(line))

/**
 * The parent folder, in memory if there is enough: writing and removing a database takes 0.05 s there, and 0.3 s on a
 * disk.
 */
const parent = (): string => {
  if (!existsSync(MEMORY) || !runsPrograms()) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= ENOUGH ? MEMORY : tmpdir()
}

/** Removes the folders of earlier runs that were killed, whose processes have ended. */
const sweep = (within: string): void => {
  for (const name of readdirSync(within)) {
    const mark = name.startsWith(FOLDER) ? name.slice(FOLDER.length).split("-")[0] : undefined
    if (mark !== undefined && livingPid(mark) === undefined)
      rmSync(join(within, name), { recursive: true, force: true })
  }
}

/**
 * Creates one folder for the temporary files of a test run, and removes it afterwards, because a test may forget to
 * remove a file. Other users may read it, because a Postgres that root starts runs as another user.
 */
export default (): (() => void) => {
  const before = process.env.TMPDIR
  const within = parent()
  sweep(within)
  const folder = mkdtempSync(join(within, `${FOLDER}${processMark(process.pid)}-`))
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  return () => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(folder, { recursive: true, force: true })
  }
}
