import { expect, it } from "vitest"
import { runCommandLine } from "../runCommandLine.js"

it.each(["dispatch", "serve"])(
  "workshop %s refuses to keep events for less than seven days",
  async (command) => {
    const { status, stderr } = await runCommandLine([
      command,
      "--keep-events",
      "6d",
      "--database-url",
      "postgres://x@127.0.0.1:1/x"
    ])
    expect(stderr).toMatch(/^--keep-events \(or WORKSHOP_KEEP_EVENTS\) must be at least 7d, .* and not "6d"\.\n$/)
    expect(status).toBe(1)
  },
  30_000
)
