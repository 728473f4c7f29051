import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * Gives a run of tests one folder for its temporary files and removes it afterwards, so that a test which forgets one leaves nothing on
 * the machine. Others may look into it, because a Postgres that is started by root runs as another user.
 */
export default (): (() => void) => {
  const before = process.env.TMPDIR
  const folder = mkdtempSync(join(tmpdir(), "wt-"))
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  return () => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(folder, { recursive: true, force: true })
  }
}
