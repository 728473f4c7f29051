import { Deliveries } from "@workshop/core/store"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as shops from "../../src/owner/ShopCommand.js"
import * as webhookDeliveries from "../../src/owner/WebhookDeliveries.js"
import * as webhooks from "../../src/owner/WebhookSettings.js"
import { lac, OwnerCli, setFlags } from "./OwnerCli.js"

/** Creates a shop with one pending ping, and returns the input of a replay. */
const withPing = async (cli: OwnerCli) => {
  const shop: string = (await cli.run(shops.createShop(lac))).data.id
  await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: "https://shop.example.com/events" }))
  await cli.run(webhooks.sendPing(shop))
  return { shop, ids: [], since: null, until: null, state: "pending", dry_run: false } as const
}

const begun = (cli: OwnerCli) => cli.meanwhile(Effect.flatMap(Deliveries, ({ replays }) => replays))

describe("workshop webhook replay (Specification, Sandbox; Commands)", () => {
  it("workshop webhook replay starts a replay, and with --dry-run only counts the events", async () => {
    await using cli = new OwnerCli()
    const asked = await withPing(cli)
    const counted = await cli.run(webhookDeliveries.replayEvents({ ...asked, dry_run: true }))
    expect(counted).toEqual({ data: { count: 1, dry_run: true }, lines: ["1 event would be sent again."] })
    expect(await begun(cli)).toEqual([])
    const sent = await cli.run(webhookDeliveries.replayEvents(asked))
    expect(sent).toEqual({ data: { count: 1, dry_run: false }, lines: ["1 event will be sent again."] })
    expect(await begun(cli)).toHaveLength(1)
  })

  it("workshop webhook replay refuses an unknown event id, and of several ids says how many are unknown", async () => {
    await using cli = new OwnerCli()
    const { state: _, ...asked } = { ...(await withPing(cli)), dry_run: false }
    const [{ event_id }] = (
      await cli.run(webhookDeliveries.listDeliveries({ shop: asked.shop, state: null, limit: 10_000 }))
    ).data
    const other = "01980000-0000-7000-8000-000000000000"
    expect(await cli.refusal(webhookDeliveries.replayEvents({ ...asked, state: null, ids: [other] }))).toBe(
      "This shop has no event with the given ids. List its events with workshop webhook deliveries."
    )
    expect(await begun(cli)).toEqual([])
    expect(
      (await cli.run(webhookDeliveries.replayEvents({ ...asked, state: null, ids: [other, event_id] }))).lines
    ).toEqual(["1 event will be sent again. 1 of the ids matches no event that this shop can send."])
    expect(await begun(cli)).toHaveLength(1)
    expect(await cli.refusal(webhookDeliveries.replayEvents({ ...asked, state: null, ids: [event_id, "abc"] }))).toBe(
      '--ids must be a UUID, and not "abc".'
    )
  })

  it.each([
    ["since a past date", { since: "2020-01-01" }, 1],
    ["until a past date", { until: "2020-01-01" }, 0],
    ["until the past", { until: "2020-01-01T00:00:00Z" }, 0],
    ["until the future", { until: "9000-01-01T00:00:00Z" }, 1],
    ["since the past", { since: "2020-01-01T00:00:00Z" }, 1],
    ["since the future", { since: "9000-01-01T00:00:00Z" }, 0],
    ["of another state", { state: "dead" }, 0]
  ] as const)("a replay is limited to the events %s", async (_, bound, count) => {
    await using cli = new OwnerCli()
    const asked = await withPing(cli)
    expect((await cli.run(webhookDeliveries.replayEvents({ ...asked, ...bound }))).data.count).toBe(count)
  })
})
