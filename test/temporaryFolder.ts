import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { livingPid, markOf } from "../packages/store-pg/src/embedded/ProcessId.js"

const FOLDER = "workshop-test-"

const MEMORY = "/dev/shm"

/** Twice what the largest files of a run take together. */
const ENOUGH = 6 * 2 ** 30

/** Containers often mount it so that no program in it runs. */
const runsPrograms = (): boolean =>
  readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .some((line) => line.split(" ")[1] === MEMORY && !/\bnoexec\b/.test(line))

/** In memory where there is enough of it: the thousand files of a database take a disk 0.3 s to write and remove, and memory 0.05 s. */
const parent = (): string => {
  if (!existsSync(MEMORY) || !runsPrograms()) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= ENOUGH ? MEMORY : tmpdir()
}

/** Removes the folders of runs that were killed. Their servers have stopped by themselves. */
const sweep = (within: string): void => {
  for (const name of readdirSync(within)) {
    const mark = name.startsWith(FOLDER) ? name.slice(FOLDER.length).split("-")[0] : undefined
    if (mark !== undefined && livingPid(mark) === undefined)
      rmSync(join(within, name), { recursive: true, force: true })
  }
}

/**
 * Gives a run of tests one folder for its temporary files and removes it afterwards, so that a test which forgets one leaves nothing on
 * the machine. Others may look into it, because a Postgres that is started by root runs as another user.
 */
export default (): (() => void) => {
  const before = process.env.TMPDIR
  const within = parent()
  sweep(within)
  const folder = mkdtempSync(join(within, `${FOLDER}${markOf(process.pid)}-`))
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  return () => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(folder, { recursive: true, force: true })
  }
}
