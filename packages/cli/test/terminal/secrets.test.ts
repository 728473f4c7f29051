import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { writeReport } from "../../src/terminal/Output.js"
import { everyHelp, runCommandLine } from "../runCommandLine.js"
import { build, run } from "../Workshop.js"

const folder = mkdtempSync(join(tmpdir(), "workshop-secrets-"))
afterAll(() => rmSync(folder, { recursive: true }))

const root = new URL("../../../../", import.meta.url)
/** Every page and every example file. */
const pages = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.md", "examples"], {
  cwd: root,
  encoding: "utf8"
})
  .trim()
  .split("\n")

describe("secrets in the environment and in files", { timeout: 60_000 }, () => {
  beforeAll(build, 120_000)
  const secret = join(folder, "secret.txt")
  writeFileSync(secret, "whsec_the-shop's-own\n")
  const words = ["verify", "--signature", `t=1732000000,v1=${"0".repeat(64)}`, "--json", "package.json"]

  it("NAME_FILE names a file that holds the value, without the newline at its end", async () => {
    expect(JSON.parse((await runCommandLine(words, { WORKSHOP_SECRET_FILE: secret })).stdout).reason).toBe("mismatch")
    expect(JSON.parse((await run(words, { WORKSHOP_SECRET_FILE: secret })).stdout).reason).toBe("mismatch")
    const bad = await runCommandLine(["migrate"], { DATABASE_URL: "", DATABASE_URL_FILE: secret })
    expect(bad).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^The database address does not have the form/)
    })
    expect(bad.stderr).not.toContain("whsec_")
  })

  it("a file that cannot be read is refused, and so are a variable and its NAME_FILE set together", async () => {
    const missing = join(folder, "missing")
    expect((await runCommandLine(words, { WORKSHOP_SECRET_FILE: missing })).stderr).toBe(
      `WORKSHOP_SECRET_FILE names ${missing}, which cannot be read (ENOENT). Correct the path or its permissions.\n`
    )
    expect((await runCommandLine(words, { WORKSHOP_SECRET_FILE: secret, WORKSHOP_SECRET: "whsec_x" })).stderr).toBe(
      "WORKSHOP_SECRET and WORKSHOP_SECRET_FILE are both set. Unset one.\n"
    )
  })

  it("no example or page shows a secret as an argument", async () => {
    const shown = [
      ...(await everyHelp()).flatMap(({ examples }) => examples),
      ...pages.flatMap((page) => readFileSync(new URL(page, root), "utf8").split("\n"))
    ]
    expect(pages.length).toBeGreaterThan(40)
    expect(
      shown.filter((line) => /--(key|demo-key|secret|sandbox-token|secrets-key) (wk_|whsec_|\$)/.test(line))
    ).toEqual([])
    expect(shown.filter((line) => /--database-url postgres:\/\/[^ ]*@/.test(line))).toEqual([])
  })

  it("a report is readable only by the owner of its file, even if the file existed before", async () => {
    const file = join(folder, "report.html")
    for (const _ of ["new", "there"]) {
      await Effect.runPromise(writeReport("--html", file, "all of it"))
      expect([statSync(file).mode & 0o777, readFileSync(file, "utf8")]).toEqual([0o600, "all of it"])
      chmodSync(file, 0o644)
    }
    expect(existsSync(file)).toBe(true)
  })
})
