import { Clock, Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as keys from "../../src/owner/KeyCommand.js"
import { OwnerCli, open } from "./OwnerCli.js"

const till = (shop: string) => ({ shop, name: "Till", preset: null, scopes: [], expires_at: null })

describe("workshop key (Specification, Keys and scopes; Commands)", () => {
  it("workshop key create shows the key once, and says that it cannot be shown again", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const { data, lines } = await cli.run(keys.createKey(till(shop)))
    expect(data.key).toMatch(/^wk_live_[\w-]{43}$/)
    expect(data.scopes).toEqual(["tickets:read", "tickets:write", "clients:read", "loyalty:write"])
    expect(lines).toEqual([
      `The key Till (${data.id}) is shown only once. Store it where only your server can read it:`,
      data.key
    ])
    const listed = await cli.run(keys.listKeys(shop))
    expect(JSON.stringify(listed)).not.toContain(data.key)
    expect(listed.data).toMatchObject([{ id: data.id, last_four: data.key.slice(-4), revoked_at: null }])
  })

  it("workshop key create accepts a preset or scopes, not both, and refuses an unknown scope", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const read = await cli.run(keys.createKey({ ...till(shop), preset: "read" }))
    expect(read.data.scopes).toEqual(["tickets:read", "clients:read"])
    const one = await cli.run(keys.createKey({ ...till(shop), scopes: ["tickets:read"] }))
    expect(one.data.scopes).toEqual(["tickets:read"])
    const both = keys.createKey({ ...till(shop), preset: "read", scopes: ["tickets:read"] })
    expect(await cli.refusal(both)).toBe("Give --preset or --scopes, not both.")
    const none = keys.createKey({ ...till(shop), scopes: ["tickets:eat"] })
    expect(await cli.refusal(none)).toMatch(/^--scopes must be one of tickets:read, .*, and not "tickets:eat"\.$/)
  })

  it("workshop key create sets an expiry, which workshop key list shows next to the last use", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const expires_at = "2100-01-31T12:00:00.000Z"
    expect((await cli.run(keys.createKey({ ...till(shop), expires_at }))).data.expires_at).toBe(expires_at)
    const listed = await cli.run(keys.listKeys(shop))
    expect(listed.data[0]).toMatchObject({ expires_at: expires_at, last_used_at: null })
    expect(listed.lines.join("\n")).toMatch(/LAST USED +EXPIRES +REVOKED\n.* - +2100-01-31 12:00 +-/)
    const past = keys.createKey({ ...till(shop), expires_at: "2020-01-01T00:00:00Z" })
    const refusal = await cli.refusal(past)
    expect(refusal).toBe("--expires-at must be in the future.")
    expect(await cli.refusal(keys.createKey({ ...till(shop), expires_at: "soon" }))).toMatch(
      /^--expires-at must be a date/
    )
  })

  it("a key with a date as its expiry expires when the day begins, and workshop key list marks an expired key", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const { data } = await cli.run(keys.createKey({ ...till(shop), expires_at: "2100-01-31" }))
    expect(data.expires_at).toBe("2100-01-31T00:00:00.000Z")
    const later = Effect.withClock(keys.listKeys(shop), {
      ...Clock.make(),
      currentTimeMillis: Effect.succeed(Date.UTC(2100, 0, 31))
    })
    expect((await cli.run(later)).lines.join("\n")).toMatch(/ - +2100-01-31 00:00 \(expired\) +-/)
  })

  it("workshop key revoke asks for confirmation, and revokes only after a yes", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const { id } = (await cli.run(keys.createKey(till(shop)))).data
    cli.answer = "n"
    expect(await cli.refusal(keys.revokeKey(id, false))).toBe("Nothing was changed.")
    expect(cli.asked).toEqual([
      `This permanently revokes the key ${id}. Requests with it will be refused. Continue? [y/N] `
    ])
    expect((await cli.run(keys.listKeys(shop))).data[0].revoked_at).toBeNull()
    cli.answer = "y"
    await cli.run(keys.revokeKey(id, false))
    expect((await cli.run(keys.listKeys(shop))).data[0].revoked_at).not.toBeNull()
  })

  it("workshop key revoke requires --yes without a terminal, and does not ask with --yes", async () => {
    await using cli = new OwnerCli()
    const { id } = (await cli.run(keys.createKey(till(await open(cli))))).data
    expect(await cli.refusal(keys.revokeKey(id, false))).toMatch(
      /\. There is no terminal in which to confirm this, so add --yes to confirm it\.$/
    )
    cli.asked.length = 0
    expect((await cli.run(keys.revokeKey(id, true))).lines[0]).toMatch(/^The key Till \(ends in .{4}\) is revoked/)
    expect(cli.asked).toEqual([])
  })

  it("workshop key create refuses a sixth active key, and says what to do", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    for (let i = 0; i < 5; i++) await cli.run(keys.createKey(till(shop)))
    const sixth = keys.createKey(till(shop))
    expect(await cli.refusal(sixth)).toMatch(
      /^The shop already has 5 active API keys.*revoke one with workshop key revoke\.$/
    )
  })
})
