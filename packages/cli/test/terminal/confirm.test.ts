import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, it } from "vitest"
import { build, environment } from "../Workshop.js"

const dist = fileURLToPath(new URL("../../dist", import.meta.url))

/** A program that asks for confirmation before it reports that a key is revoked. */
const asking = `import { confirm } from "${dist}/terminal/confirm.js"
import { runProcess } from "${dist}/terminal/runProcess.js"
runProcess(confirm("The key is revoked.", false), ["key", "revoke"])`

/** Types keys once the question is on the screen, and returns the screen's text and the exit status. */
const typing = async (keys: string) => {
  const command = `"${process.execPath}" --input-type=module -e '${asking}'`
  const child = spawn("script", ["-qefc", command, "/dev/null"], { env: environment({ SHELL: "/bin/sh" }) })
  let screen = ""
  child.stdout.on("data", (chunk) => {
    const isAsked = screen.includes("[y/N]")
    screen += chunk
    if (!isAsked && screen.includes("[y/N]")) child.stdin.write(keys)
  })
  const [status] = await once(child, "close")
  return { status, lines: screen.split(/[\r\n]+/).slice(1) }
}

// The test needs the flags of `script` on Linux.
describe.skipIf(process.platform !== "linux")("a question at the terminal", { timeout: 60_000 }, () => {
  beforeAll(build, 300_000)

  it.each([
    ["Ctrl-C", "\u0003", 130],
    ["Ctrl-D, the end of the input,", "\u0004", 1],
    ["no", "n\n", 1]
  ])("the reply %s changes nothing, and the command says so", async (_, keys, status) => {
    expect(await typing(keys)).toEqual({ status, lines: ["Nothing was changed.", ""] })
  })

  it("a typed yes runs the command", async () => {
    expect(await typing("y\n")).toEqual({ status: 0, lines: [""] })
  })
})
