import { Effect, Layer } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { sandboxWebhookAdmin } from "../../src/owner/SandboxWebhookAdmin.js"
import { WebhookAdmin } from "../../src/owner/WebhookAdmin.js"
import * as deliveries from "../../src/owner/WebhookDeliveries.js"
import * as settings from "../../src/owner/WebhookSettings.js"
import { makeAskSandbox } from "../../src/sandbox/Sandbox.js"
import { build, Workshop } from "../Workshop.js"
import { OwnerCli, open, setFlags } from "./OwnerCli.js"

const URL = "http://127.0.0.1:9/events"
const NOBODY = "01980000-0000-7000-8000-000000000000"

/** The flags of `workshop webhook replay` if none was typed. */
const replayFlags = { ids: [], since: null, until: null, state: null, dry_run: false }

let server: Workshop
let base: string

beforeAll(async () => {
  await build()
  server = new Workshop(["serve", "--store", "memory", "--sandbox", "--port", "0"])
  base = (await server.listens()).base
}, 180_000)
afterAll(async () => {
  server.kill("SIGKILL")
  await server.exited
}, 60_000)

/** A shop in a new memory store. */
const inStore = async () => {
  const cli = new OwnerCli()
  return { cli, shop: await open(cli) }
}

/** A new shop on the running server. */
const onServer = async () => {
  const ask = makeAskSandbox({ baseUrl: base, token: null })
  const body = { name: "Atelier Lac", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
  const opened = await Effect.runPromise(ask<{ readonly shop: { readonly id: string } }>("open shop", "", { body }))
  const webhooks = sandboxWebhookAdmin(ask)
  return { cli: new OwnerCli(Layer.succeed(WebhookAdmin, webhooks)), shop: opened.shop.id }
}

describe.each([
  ["in a database", inStore],
  ["on a running server with --base-url", onServer]
])("workshop webhook %s (Specification, Commands)", { timeout: 60_000 }, (_, openPlace) => {
  /** Opens a shop whose webhook is set. */
  const withWebhook = async () => {
    const { cli, shop } = await openPlace()
    await cli.run(settings.setWebhook({ ...setFlags, shop, url: URL, sandbox: true }))
    return { cli, shop, [Symbol.asyncDispose]: () => cli[Symbol.asyncDispose]() }
  }

  it("rotate asks for --yes, and within 24 hours of the last rotation for --force, because the oldest secret then ends early", async () => {
    await using place = await withWebhook()
    const { cli, shop } = place
    expect(await cli.refusal(settings.rotateSecret({ shop, yes: false, force: false }))).toBe(
      "This replaces the webhook's secret. For 24 hours, deliveries are signed with the old secret as well. There is no terminal in which to confirm this, so add --yes to confirm it."
    )
    expect((await cli.run(settings.rotateSecret({ shop, yes: true, force: false }))).data.replaces_before).toBeNull()
    expect(await cli.refusal(settings.rotateSecret({ shop, yes: true, force: false }))).toMatch(
      /^The secret was already replaced within the last 24 hours\. Another rotation stops signing with the oldest secret at once, instead of at \S+Z\. There is no terminal .*, so add --force/
    )
    const forced = (await cli.run(settings.rotateSecret({ shop, yes: false, force: true }))).data
    expect(forced.replaces_before).toMatch(/^\d{4}-.*Z$/)
  })

  it("replay is refused without a filter, and with ids of which the shop has no event", async () => {
    await using place = await withWebhook()
    const { cli, shop } = place
    expect(await cli.refusal(deliveries.replayEvents({ ...replayFlags, shop }))).toBe(
      "Choose the events with --ids, or with any of --since, --until and --state. Add --dry-run to count them without sending them."
    )
    expect(await cli.refusal(deliveries.replayEvents({ ...replayFlags, shop, ids: [NOBODY] }))).toBe(
      "This shop has no event with the given ids. List its events with workshop webhook deliveries."
    )
    expect(await cli.refusal(deliveries.replayEvents({ ...replayFlags, shop, ids: ["abc"] }))).toBe(
      '--ids must be a UUID, and not "abc".'
    )
    expect(await cli.refusal(deliveries.replayEvents({ ...replayFlags, shop, since: "yesterday" }))).toMatch(
      /^--since must be .+, and not "yesterday"\.$/
    )
    const { id } = (await cli.run(settings.sendPing(shop))).data
    expect((await cli.run(deliveries.replayEvents({ ...replayFlags, shop, ids: [NOBODY, id] }))).lines).toEqual([
      "1 event will be sent again. 1 of the ids matches no event that this shop can send."
    ])
    const since = { ...replayFlags, shop, since: "2020-01-01", dry_run: true }
    expect((await cli.run(deliveries.replayEvents(since))).data).toEqual({ count: 1, dry_run: true })
  })

  it("deliveries lists the latest --limit deliveries, or the latest ones in a state, oldest first", async () => {
    await using place = await withWebhook()
    const { cli, shop } = place
    await cli.run(settings.disableWebhook(shop))
    const ids: Array<string> = []
    for (let n = 0; n < 1_003; n++) ids.push((await cli.run(settings.sendPing(shop))).data.id)
    const list = async (flags: { readonly state: "parked" | "dead" | null; readonly limit: number }) =>
      (await cli.run(deliveries.listDeliveries({ shop, ...flags }))).data.map(
        ({ event_id }: { readonly event_id: string }) => event_id
      )
    expect(await list({ state: null, limit: 10_000 })).toEqual(ids)
    expect(await list({ state: "parked", limit: 1_001 })).toEqual(ids.slice(-1_001))
    expect(await list({ state: null, limit: 2 })).toEqual(ids.slice(-2))
    expect((await cli.run(deliveries.listDeliveries({ shop, state: "dead", limit: 2 }))).lines).toEqual([
      "No delivery is dead."
    ])
  })

  it("set says that the webhook stays off, and with --enable turns it on", async () => {
    await using place = await withWebhook()
    const { cli, shop } = place
    await cli.run(settings.disableWebhook(shop))
    const moved = { ...setFlags, shop, url: `${URL}/new`, sandbox: true }
    const { data, lines } = await cli.run(settings.setWebhook(moved))
    expect(data).toEqual({ url: `${URL}/new`, secret: data.secret, on: false, off_reason: "disabled" })
    expect(lines[0]).toMatch(/^The address is .+, but the webhook is off because its owner turned it off/)
    const enabled = await cli.run(settings.setWebhook({ ...moved, enable: true }))
    expect(enabled.data).toEqual({ url: `${URL}/new`, secret: data.secret, on: true, off_reason: null })
  })

  it("remove asks for --yes, and every command that needs a webhook says that there is none", async () => {
    await using place = await withWebhook()
    const { cli, shop } = place
    expect(await cli.refusal(settings.removeWebhook({ shop, yes: false }))).toBe(
      "This permanently removes the webhook, its secrets and all waiting deliveries. There is no terminal in which to confirm this, so add --yes to confirm it."
    )
    expect((await cli.run(settings.removeWebhook({ shop, yes: true }))).lines).toEqual([
      `The shop ${shop} no longer has a webhook, and its events are recorded but not sent.`
    ])
    for (const command of [
      settings.enableWebhook(shop),
      settings.disableWebhook(shop),
      settings.removeWebhook({ shop, yes: true }),
      settings.rotateSecret({ shop, yes: true, force: false }),
      deliveries.replayEvents({ ...replayFlags, shop, state: "dead" })
    ])
      expect(await cli.refusal(command)).toBe("The shop has no webhook. Set its address with workshop webhook set.")
    expect((await cli.run(settings.sendPing(shop))).lines[0]).toMatch(
      /^The ping \S+ was recorded but not sent, because the shop has no webhook\./
    )
    expect((await cli.run(deliveries.listNotices(shop))).lines).toEqual(["There are no notices yet."])
  })

  it("a text that is not an id is refused before the webhook is read", async () => {
    await using place = await withWebhook()
    const { cli } = place
    expect(await cli.refusal(settings.showWebhook("lac"))).toMatch(/^lac is not the id of a shop\. An id is a UUID/)
  })
})
