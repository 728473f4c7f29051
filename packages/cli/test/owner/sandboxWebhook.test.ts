import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runCommandLine } from "../runCommandLine.js"
import { build, Workshop } from "../Workshop.js"

let server: Workshop
let base: string
let shop: string

beforeAll(async () => {
  await build()
  server = new Workshop(["serve", "--store", "memory", "--sandbox", "--port", "0"])
  base = (await server.listens()).base
  const { data } = (await (await fetch(`${base}/sandbox/shops`)).json()) as { readonly data: [{ readonly id: string }] }
  shop = data[0].id
}, 180_000)
afterAll(async () => {
  server.kill("SIGKILL")
  await server.exited
}, 60_000)

const webhook = (name: string, ...flags: ReadonlyArray<string>) =>
  runCommandLine(["webhook", name, shop, ...flags, "--base-url", base])

describe("workshop webhook --base-url (Specification, Commands)", { timeout: 120_000 }, () => {
  it("workshop webhook sets, shows, pings, turns off and on, rotates and removes the webhook of a running sandbox", async () => {
    const set = await webhook("set", "http://127.0.0.1:9/events")
    expect([set.status, set.stderr]).toEqual([0, ""])
    expect(set.stdout).toMatch(/^Events go to http:\/\/127\.0\.0\.1:9\/events\. The secret that signs them .*\nwhsec_/)
    expect((await webhook("ping")).stdout).toMatch(/^The ping [\w-]+ will be sent/)
    expect(JSON.parse((await webhook("deliveries", "--json")).stdout)).toMatchObject([{ type: "ping" }])
    expect((await webhook("deliveries", "--state", "dead")).stdout).toContain("No delivery is dead.")
    expect(JSON.parse((await webhook("disable", "--json")).stdout)).toMatchObject({ on: false, off_reason: "disabled" })
    expect((await webhook("set", "http://127.0.0.1:9/other")).stdout).toContain("but the webhook is off")
    expect(JSON.parse((await webhook("enable", "--json")).stdout)).toMatchObject({ on: true })
    expect((await webhook("replay", "--state", "pending", "--dry-run")).stdout).toMatch(/^\d+ events? would be sent/)
    expect((await webhook("notices")).stdout).toContain("There are no notices yet.")
    expect((await webhook("rotate", "--yes")).stdout).toMatch(/^The new secret .*\nwhsec_/)
    expect((await webhook("remove", "--yes")).stdout).toContain(`The shop ${shop} no longer has a webhook`)
    expect(JSON.parse((await webhook("show", "--json")).stdout)).toMatchObject({ url: null })
    expect((await webhook("rotate", "--yes")).stderr).toContain(
      "The shop has no webhook. Set its address with workshop webhook set."
    )
  })

  it("workshop webhook names an invalid address, a missing confirmation, an unknown shop and an unreachable server", async () => {
    const refused = async (args: ReadonlyArray<string>) => {
      const { status, stderr } = await runCommandLine(["webhook", ...args])
      expect(status).toBe(1)
      return stderr
    }
    expect(await refused(["set", shop, "nowhere", "--base-url", base])).toMatch(/responded 400: the address must .+/)
    expect(await refused(["remove", shop, "--base-url", base])).toContain("--yes")
    const other = "01980000-0000-7000-8000-000000000000"
    expect(await refused(["show", other, "--base-url", base])).toContain("has no shop with this id. Check the id.")
    expect(await refused(["show", shop, "--base-url", "http://127.0.0.1:1"])).toContain("No response came from")
  })

  it("workshop webhook refuses flags of a database beside --base-url, and prefers them to the variable of --base-url", async () => {
    const database = ["--database-url", "postgres://127.0.0.1:1/none"]
    const both = await runCommandLine(["webhook", "show", shop, "--base-url", base, ...database])
    expect([both.status, both.stderr]).toEqual([
      1,
      "--base-url names a running server, and --database-url is for a database. Give only one of the two.\n"
    ])
    const variable = { WORKSHOP_WEBHOOK_BASE_URL: base }
    expect((await runCommandLine(["webhook", "show", shop], variable)).status).toBe(0)
    const preferred = await runCommandLine(["webhook", "show", shop, ...database], variable)
    expect([preferred.status, preferred.stderr]).toEqual([1, expect.stringContaining("127.0.0.1")])
  })

  it("workshop webhook show and deliveries print the same fields as for a database", async () => {
    await webhook("set", "http://127.0.0.1:9/events")
    await webhook("ping")
    const shown = JSON.parse((await webhook("show", "--json")).stdout)
    expect(Object.keys(shown)).toEqual(["url", "on", "off_reason", "failures_in_row", "first_failure_at"])
    const deliveries = JSON.parse((await webhook("deliveries", "--json")).stdout)
    expect(Object.keys(deliveries.at(-1))).toEqual(["event_id", "type", "state", "next_attempt_at", "attempts"])
  })
})
