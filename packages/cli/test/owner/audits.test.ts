import { describe, expect, it } from "vitest"
import * as audits from "../../src/owner/AuditCommand.js"
import * as keys from "../../src/owner/KeyCommand.js"
import * as shops from "../../src/owner/ShopCommand.js"
import { lac, OwnerCli } from "./OwnerCli.js"

const all = { shop: null, before: null, limit: 100 }

describe("workshop audit", () => {
  it("workshop audit lists the audit log of all shops or of one, latest entry first, page by page", async () => {
    await using cli = new OwnerCli()
    expect((await cli.run(audits.listEntries(all))).lines).toEqual(["The audit log has no entries yet."])
    const { id: shop } = (await cli.run(shops.createShop(lac))).data
    const { data } = await cli.run(keys.createKey({ shop, name: "Till", preset: "read", scopes: [], expires_at: null }))
    await cli.run(shops.createShop(lac))
    expect((await cli.run(audits.listEntries(all))).data).toHaveLength(3)
    const listed = await cli.run(audits.listEntries({ ...all, shop }))
    expect(listed.data).toMatchObject([
      { act: "key.created", shop_id: shop, details: { key_id: data.id, name: "Till" } },
      { act: "shop.created", shop_id: shop, details: { name: "Atelier Lac" } }
    ])
    expect(JSON.stringify(listed)).not.toContain(data.key)
    const [latest] = listed.data
    const before = await cli.run(audits.listEntries({ ...all, shop, before: latest.id, limit: 1 }))
    expect(before.data).toMatchObject([{ act: "shop.created" }])
    expect(await cli.refusal(audits.listEntries({ ...all, before: "x" }))).toMatch(/^x is not the id of an entry/)
  })
})
