import { describe, expect, it } from "vitest"
import * as shops from "../../src/owner/ShopCommand.js"
import { lac, OwnerCli } from "./OwnerCli.js"

const unchanged = {
  approved: null,
  active: null,
  api_enabled: null,
  program_active: null,
  program_name: null,
  stamps_required: null,
  stamps_per_ticket: null,
  reward_label: null,
  next_number: null,
  forbidden_words: [],
  allowed_words: [],
  languages: []
}
const NOBODY = "01980000-0000-7000-8000-000000000000"

describe("workshop shop (Specification, Commands)", () => {
  it("workshop shop create opens a shop, and names the next command", async () => {
    await using cli = new OwnerCli()
    const { data, lines } = await cli.run(shops.createShop(lac))
    expect(data).toMatchObject({
      name: "Atelier Lac",
      currency: "TND",
      decimals: 3,
      time_zone: "Africa/Tunis",
      tracking_base_url: null,
      approved: true,
      active: true,
      api_enabled: true
    })
    expect(lines.at(-1)).toBe(
      `Create its first API key with this command: workshop key create ${data.id} --name Till --preset full`
    )
  })

  it.each([
    ["TND", 3],
    ["EUR", 2],
    ["JPY", 0]
  ])("workshop shop create without --decimals gives a shop in %s %d decimals", async (currency, decimals) => {
    await using cli = new OwnerCli()
    const opened = async (given: number | null) =>
      (await cli.run(shops.createShop({ ...lac, currency, decimals: given }))).data.decimals
    expect([await opened(null), await opened(4)]).toEqual([decimals, 4])
  })

  it("workshop shop create refuses an unknown currency without --decimals", async () => {
    await using cli = new OwnerCli()
    expect(await cli.refusal(shops.createShop({ ...lac, currency: "TNX", decimals: null }))).toBe(
      '--currency must be a currency that this machine knows; for another currency, also give decimals, and not "TNX".'
    )
    expect((await cli.run(shops.createShop({ ...lac, currency: "TNX", decimals: 3 }))).data.currency).toBe("TNX")
  })

  it("workshop shop create names all invalid flags", async () => {
    await using cli = new OwnerCli()
    const said = await cli.refusal(shops.createShop({ ...lac, name: "", time_zone: "Tunis" }))
    expect(said).toMatch(/^--name must .*; --time-zone must .*\.$/)
  })

  it("workshop shop list shows every shop, oldest first", async () => {
    await using cli = new OwnerCli()
    expect((await cli.run(shops.listShops)).lines).toEqual([
      "There are no shops yet. Create one with workshop shop create."
    ])
    const opened: Array<string> = []
    for (let i = 0; i < 3; i++) opened.push((await cli.run(shops.createShop({ ...lac, name: `Shop ${i}` }))).data.id)
    const { data, lines } = await cli.run(shops.listShops)
    expect(data.map(({ id }: { readonly id: string }) => id).sort()).toEqual(opened.toSorted())
    expect(lines[0]).toMatch(/^ID +NAME +CURRENCY +TIME ZONE +PROGRAMME +OPENED$/)
    expect(lines).toHaveLength(4)
    expect(lines[1]).toContain("TND (3)")
  })

  it("workshop shop set changes the named fields and keeps the rest", async () => {
    await using cli = new OwnerCli()
    const { id } = (await cli.run(shops.createShop(lac))).data
    const asked = { ...unchanged, api_enabled: false, program_active: true, stamps_required: 10, next_number: 421 }
    await cli.run(shops.changeShop(id, asked))
    await cli.run(shops.changeShop(id, { ...unchanged, reward_label: "A free hem", forbidden_words: ["zut"] }))
    const { data } = await cli.run(shops.showShop(id))
    expect(data).toMatchObject({
      approved: true,
      api_enabled: false,
      program: { active: true, stamps_required: 10, reward_label: "A free hem" },
      next_number: 421,
      forbidden_words: ["zut"]
    })
    const words = { allowed_words: ["pussy cat"], languages: ["en", "it"] }
    expect((await cli.run(shops.changeShop(id, { ...unchanged, ...words }))).data).toMatchObject({
      allowed_words: ["pussy cat"],
      languages: ["en", "it"]
    })
    await cli.run(
      shops.changeShop(id, { ...unchanged, forbidden_words: ["-"], allowed_words: ["-"], languages: ["-"] })
    )
    expect((await cli.run(shops.showShop(id))).data).toMatchObject({
      forbidden_words: [],
      allowed_words: [],
      languages: []
    })
  })

  it("workshop shop create sets the default languages of the time zone, or the languages of --languages", async () => {
    await using cli = new OwnerCli()
    expect((await cli.run(shops.createShop(lac))).data.languages).toEqual(["en", "fr", "ar"])
    expect((await cli.run(shops.createShop({ ...lac, languages: ["de"] }))).data.languages).toEqual(["de"])
  })

  it("workshop shop set without a named field changes nothing and says so", async () => {
    await using cli = new OwnerCli()
    const { id } = (await cli.run(shops.createShop(lac))).data
    expect(await cli.refusal(shops.changeShop(id, unchanged))).toMatch(/^Name the settings to change/)
  })

  it("workshop shop show refuses an unknown shop and an invalid id", async () => {
    await using cli = new OwnerCli()
    const unknown = shops.showShop(NOBODY)
    expect(await cli.refusal(unknown)).toBe("There is no such shop. List the shops with workshop shop list.")
    expect(await cli.refusal(shops.showShop("lac"))).toMatch(/^lac is not the id of a shop\. An id is a UUID/)
  })

  it("workshop shop repair-clock says if no clock needs a repair, for one shop and for all", async () => {
    await using cli = new OwnerCli()
    const { data } = await cli.run(shops.createShop(lac))
    const repaired = await cli.run(shops.repairClock(data.id))
    expect(repaired.data).toEqual({ id: data.id, ahead_until: null, tickets_redated: 0 })
    expect(repaired.lines.at(-1)).toBe("The shop is not ahead of this machine's clock, so there is nothing to repair.")
    expect(await cli.refusal(shops.repairClock(NOBODY))).toBe(
      "There is no such shop. List the shops with workshop shop list."
    )
    const all = await cli.run(shops.repairClocks)
    expect(all.data).toEqual([])
    expect(all.lines).toEqual(["No shop is ahead of this machine's clock, so there is nothing to repair."])
  })
})
