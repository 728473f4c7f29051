import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { runCommandLine } from "../runCommandLine.js"
import { build, Workshops } from "../Workshop.js"

const dataDir = mkdtempSync(join(tmpdir(), "workshop-stop-"))
const processes = new Workshops()
const serve = (port: number) =>
  processes.start(["serve", "--data-dir", dataDir, "--port", String(port)], { DATABASE_URL: "" })

beforeAll(build, 120_000)
afterAll(async () => {
  await processes.end()
  rmSync(dataDir, { recursive: true, force: true })
}, 30_000)

it("after SIGTERM under load, every ticket whose create got a response is stored, the exit status is 0, and other commands can read the data folder (Specification, Commands)", async () => {
  const first = serve(0)
  const { base, port, key } = await first.listens()
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }
  const answered: Array<string> = []
  let goOn = () => {}
  const some = new Promise<void>((resolve) => {
    goOn = resolve
  })
  // Thirty requests are within the write limit of a minute. The signal arrives while some are in flight.
  const load = Promise.allSettled(
    Array.from({ length: 30 }, async (_, i) => {
      const response = await fetch(`${base}/v1/tickets`, {
        method: "POST",
        headers: { ...headers, "Idempotency-Key": `load-${i}` },
        body: JSON.stringify({ service: "Hem" })
      })
      const { data } = (await response.json()) as { data: { id: string } }
      if (response.status === 201) answered.push(data.id)
      if (answered.length === 3) goOn()
    })
  )
  await some
  first.kill("SIGTERM")
  expect(await first.exited).toBe(0)
  await load
  expect(first.stderr).toBe("")

  const second = serve(port)
  await second.says(/^Listening on /m)
  const list = await fetch(`${base}/v1/tickets?limit=100`, { headers })
  const { data } = (await list.json()) as { data: ReadonlyArray<{ id: string }> }
  expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(answered))
  expect(answered.length).toBeGreaterThanOrEqual(3)
  const shops = await runCommandLine(["shop", "list", "--data-dir", dataDir, "--json"], { DATABASE_URL: "" })
  expect(JSON.parse(shops.stdout)).toMatchObject([{ name: "My workshop" }])
  second.kill("SIGTERM")
  expect(await second.exited).toBe(0)
}, 120_000)
