import { runCases } from "@workshop/cli/conform/runCases"
import { suite } from "@workshop/cli/conform/Suite"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { inProcess } from "./InProcess.js"

it("our own server passes every case", async () => {
  const server = await inProcess()
  const target = { ask: server.ask, origin: "http://workshop.test", key: undefined }
  const sandbox = { token: undefined, inboxes: server.inboxes }
  const results = await Effect.runPromise(runCases({ ...target, sandbox }, suite))
  await server.close()
  const failed = results.filter(({ outcome }) => outcome !== "passed")
  expect(failed.map((result) => [result.case.id, result.failure?.expected, result.failure?.found])).toEqual([])
}, 120_000)
