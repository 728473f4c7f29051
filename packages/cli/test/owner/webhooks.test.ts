import type { SendResult } from "@workshop/core"
import { Deliveries, Directory } from "@workshop/core/store"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { recordAttempt } from "../../../core/src/decisions/recordAttempt.js"
import { runCommand } from "../../../core/src/testing/Fixtures.js"
import * as webhookDeliveries from "../../src/owner/WebhookDeliveries.js"
import * as webhooks from "../../src/owner/WebhookSettings.js"
import { OwnerCli, open, setFlags } from "./OwnerCli.js"

const URL = "https://shop.example.com/events"
const asked = (shop: string) => ({ shop, ids: [], since: null, until: null, state: null, dry_run: false })

const reset: SendResult = {
  status: null,
  error: "reset",
  detail: "ECONNRESET",
  address: "192.0.2.7",
  timings: { lookup_ms: 3, connect_ms: 12, tls_ms: 20, first_byte_ms: null, total_ms: 41 },
  head: ""
}
const unavailable: SendResult = {
  ...reset,
  status: 503,
  error: null,
  detail: null,
  timings: { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: 9, total_ms: 10 },
  head: "HTTP/1.1 503 Service Unavailable\nRetry-After: 5\n"
}

/** Attempts every delivery that is due at `at`, each with the result `sent`. */
const attempted = (at: number, sent: SendResult) =>
  Effect.gen(function* () {
    for (const { shop_id, event_id, token, webhook } of yield* (yield* Deliveries).claim(at, 10)) {
      yield* runCommand(recordAttempt(shop_id, { event_id, token, url: webhook.url, started_at: at, sent, jitter: 0 }))
    }
  })

describe("workshop webhook (Specification, Webhooks; Commands)", () => {
  it("workshop webhook set shows the secret, and workshop webhook show does not", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    expect((await cli.run(webhooks.showWebhook(shop))).data).toMatchObject({ url: null, on: false })
    const { data, lines } = await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: URL }))
    const secret = expect.stringMatching(/^whsec_[\w-]{43}$/)
    expect(data).toEqual({ url: URL, secret, on: true, off_reason: null })
    expect(lines[0]).toMatch(/is shown only once/)
    const shown = await cli.run(webhooks.showWebhook(shop))
    expect(shown.data).toMatchObject({ url: URL, on: true })
    expect(JSON.stringify(shown)).not.toContain(data.secret)
  })

  it("workshop webhook disable turns the webhook off, and remove removes it only after a confirmation", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: URL }))
    expect((await cli.run(webhooks.disableWebhook(shop))).data).toMatchObject({ on: false, off_reason: "disabled" })
    cli.answer = ""
    expect(await cli.refusal(webhooks.removeWebhook({ shop, yes: false }))).toBe("Nothing was changed.")
    expect((await cli.run(webhooks.showWebhook(shop))).data.url).toBe(URL)
    expect((await cli.run(webhooks.removeWebhook({ shop, yes: true }))).data).toMatchObject({
      url: null,
      off_reason: null
    })
    const again = webhooks.removeWebhook({ shop, yes: true })
    expect(await cli.refusal(again)).toContain("The shop has no webhook. Set its address with workshop webhook set.")
  })

  it("workshop webhook set accepts an address of this machine only with --sandbox, and another port only with --webhook-port", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const local = "http://127.0.0.1:4020/"
    expect(await cli.refusal(webhooks.setWebhook({ ...setFlags, shop, url: local }))).toBe(
      "The address must start with https://."
    )
    const taken = await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: local, sandbox: true }))
    expect(taken.data.url).toBe(local)
    expect(taken.lines[0]).toContain(
      " Only a server with --sandbox delivers to this address, and the database does not belong to a sandbox."
    )
    await cli.meanwhile(Effect.flatMap(Directory, ({ markSandboxMade }) => markSandboxMade))
    expect(
      (await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: local, sandbox: true }))).lines[0]
    ).not.toContain("Only")
    const elsewhere = "https://shop.example.com:8443/events"
    const withPort =
      "To allow its port, add --webhook-port 8443, and pass the same --webhook-port to serve and dispatch"
    expect(await cli.refusal(webhooks.setWebhook({ ...setFlags, shop, url: elsewhere }))).toBe(
      `The address must use port 443. ${withPort}.`
    )
    expect(
      (await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: elsewhere, webhookPort: [443, 8443] }))).data.url
    ).toBe(elsewhere)
  })

  it.each([
    [
      "https://shop.example.com/events",
      "must use port 9443. To allow its port, add --webhook-port 443, and pass the same --webhook-port to serve and dispatch."
    ],
    ["https://shop.example.com:0/events", "must use port 9443."],
    ["http://shop.example.com:8443/events", "must start with https://."],
    [
      "https://10.0.0.1:8443/events",
      "must not have a private or special-purpose IP address; give an address that can be reached from the internet."
    ],
    ["8443", "must be a web address such as https://shop.example.com/hook."]
  ])("workshop webhook set %s names --webhook-port only if nothing but the port is wrong", async (url, must) => {
    await using cli = new OwnerCli()
    expect(
      await cli.refusal(webhooks.setWebhook({ ...setFlags, shop: await open(cli), url, webhookPort: [9443] }))
    ).toBe(`The address ${must}`)
  })

  it("workshop webhook rotate replaces the secret only after a confirmation", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const { secret } = (await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: URL }))).data
    expect(await cli.refusal(webhooks.rotateSecret({ shop, yes: false, force: false }))).toMatch(/so add --yes/)
    const rotated = (await cli.run(webhooks.rotateSecret({ shop, yes: true, force: false }))).data.secret
    expect(rotated).toMatch(/^whsec_/)
    expect(rotated).not.toBe(secret)
  })

  it("workshop webhook set says that a webhook stays off, and with --enable turns it on (Specification, Endpoints)", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: URL }))
    await cli.run(webhooks.disableWebhook(shop))
    const { data, lines } = await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: `${URL}/new` }))
    expect(data).toMatchObject({ on: false, off_reason: "disabled" })
    expect(lines.join(" ")).toContain("the webhook is off because its owner turned it off")
    const enabled = await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: `${URL}/new`, enable: true }))
    expect(enabled.data).toMatchObject({ on: true, off_reason: null })
    expect((await cli.run(webhooks.showWebhook(shop))).data.on).toBe(true)
  })

  it("workshop webhook ping sends an event, which deliveries lists and replay sends again", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: URL }))
    expect((await cli.run(webhookDeliveries.listDeliveries({ shop, state: null, limit: 10_000 }))).lines).toEqual([
      "There are no deliveries yet."
    ])
    const { id } = (await cli.run(webhooks.sendPing(shop))).data
    const { data, lines } = await cli.run(webhookDeliveries.listDeliveries({ shop, state: null, limit: 10_000 }))
    expect(data).toMatchObject([{ event_id: id, type: "ping", state: "pending", attempts: [] }])
    expect(lines[1]).toMatch(new RegExp(`^${id}  ping  pending         0  -`))
    expect((await cli.run(webhookDeliveries.listDeliveries({ shop, state: "dead", limit: 10_000 }))).lines).toEqual([
      "No delivery is dead."
    ])

    const counted = await cli.run(webhookDeliveries.replayEvents({ ...asked(shop), ids: [id], dry_run: true }))
    expect(counted.data.dry_run).toBe(true)
    expect(await cli.refusal(webhookDeliveries.replayEvents(asked(shop)))).toMatch(/^Choose the events with --ids/)
    const both = webhookDeliveries.replayEvents({ ...asked(shop), ids: [id], state: "dead" })
    expect(await cli.refusal(both)).toMatch(/^--ids cannot be combined/)
    const wrong = webhookDeliveries.replayEvents({ ...asked(shop), since: "yesterday" })
    expect(await cli.refusal(wrong)).toMatch(/^--since must/)
  })

  it("workshop webhook deliveries shows every attempt in JSON, and only the last result as text (Specification, Webhooks; Sandbox)", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    await cli.run(webhooks.setWebhook({ ...setFlags, shop, url: URL }))
    const { id } = (await cli.run(webhooks.sendPing(shop))).data
    const noon = Date.parse("2100-01-01T12:00:00Z")
    await cli.meanwhile(attempted(noon, reset))
    const afterReset = await cli.run(webhookDeliveries.listDeliveries({ shop, state: null, limit: 10_000 }))
    expect(afterReset.lines[1]).toContain("reset (ECONNRESET), 41 ms, 192.0.2.7")
    await cli.meanwhile(attempted(noon + 3_600_000, { ...unavailable, address: null }))
    const { data, lines } = await cli.run(webhookDeliveries.listDeliveries({ shop, state: null, limit: 10_000 }))
    expect(data).toMatchObject([{ event_id: id, state: "pending" }])
    expect(data[0].attempts).toEqual([
      {
        n: 1,
        started_at: "2100-01-01T12:00:00.000Z",
        duration_ms: 41,
        status: null,
        error: "reset",
        detail: "ECONNRESET",
        address: "192.0.2.7",
        timings: { lookup_ms: 3, connect_ms: 12, tls_ms: 20, first_byte_ms: null },
        head: ""
      },
      {
        n: 2,
        started_at: "2100-01-01T13:00:00.000Z",
        duration_ms: 10,
        status: 503,
        error: null,
        detail: null,
        address: null,
        timings: { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: 9 },
        head: "HTTP/1.1 503 Service Unavailable\nRetry-After: 5\n"
      }
    ])
    expect(lines[1]).toMatch(/ 2 {2}503, 10 ms {2}/)
  })

  it("workshop webhook enable and ping are refused without an address", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const said = await cli.refusal(webhooks.enableWebhook(shop))
    expect(said).toBe("The shop has no webhook. Set its address with workshop webhook set.")
    expect((await cli.run(webhookDeliveries.listNotices(shop))).lines).toEqual(["There are no notices yet."])
  })
})
