import { runCases } from "@workshop/cli/conform/runCases"
import { suite } from "@workshop/cli/conform/Suite"
import { Effect } from "effect"
import { it } from "vitest"
import { inProcess } from "./InProcess.js"

it("x", async () => {
  const server = await inProcess()
  let n = 0
  const ask = (r: Request) => {
    n++
    return server.ask(r)
  }
  const target = { ask, origin: "http://workshop.test", key: undefined }
  const sandbox = { token: undefined, inboxes: server.inboxes }
  const results = await Effect.runPromise(runCases({ ...target, sandbox }, suite))
  await server.close()
  console.log(
    results.length,
    n,
    results.filter((r) => r.outcome === "passed").length,
    suite.filter((c) => c.needs === "key").length,
    new Set(suite.map((c) => c.id)).size
  )
  console.log(
    [...results]
      .sort((a, b) => b.duration_ms - a.duration_ms)
      .slice(0, 14)
      .map((r) => `${r.case.id} ${r.duration_ms}`)
      .join("\n")
  )
}, 120_000)
