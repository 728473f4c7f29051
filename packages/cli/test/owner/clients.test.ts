import { appCaller, type ShopId, StoreUnavailable, TicketInput, Tickets } from "@workshop/core"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as audits from "../../src/owner/AuditCommand.js"
import * as clients from "../../src/owner/ClientCommand.js"
import { commandRefusal } from "../../src/owner/ownerCommand.js"
import { OwnerCli, open } from "./OwnerCli.js"

const amira = { given_name: "Amira", family_name: "Ben Salah", phone: "+21620123456", hide_name: true }

/** Creates a ticket that is offered to Amira's phone number. */
const offer = (cli: OwnerCli, shop: string) =>
  cli.meanwhile(
    Tickets.create(
      appCaller(shop as ShopId),
      Schema.decodeSync(TicketInput)({ service: "Hem", client_phone: amira.phone })
    )
  )

describe("workshop client (Specification, Clients and loyalty; Commands)", () => {
  it("workshop client create opens an account, which a shop can read after the client's first visit", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const { id } = (await cli.run(clients.createClient(amira))).data
    expect((await cli.run(clients.showClient(id, null))).data).toMatchObject({
      given_name: "Amira",
      hide_name: true
    })
    const unseen = clients.showClient(id, shop)
    expect(await cli.refusal(unseen)).toBe("This shop does not know a client with this id or phone number.")
    await cli.run(clients.recordVisit(id, shop))
    expect((await cli.run(clients.showClient(id, shop))).data).toMatchObject({ id, display_name: "Amira B." })
  })

  it("commands that change a client are recorded in the audit log", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const { id } = (await cli.run(clients.createClient(amira))).data
    await cli.run(clients.recordVisit(id, shop))
    const { data } = await cli.run(audits.listEntries({ shop: null, before: null, limit: 2 }))
    expect(data).toMatchObject([
      { act: "client.acted_for", shop_id: shop, details: { did: "visit", client_id: id } },
      { act: "client.acted_for", details: { did: "create", client_id: id } }
    ])
    expect(JSON.stringify(data)).not.toContain("Amira")
  })

  it("workshop client create names the invalid flag", async () => {
    await using cli = new OwnerCli()
    expect(await cli.refusal(clients.createClient({ ...amira, phone: "20123456" }))).toMatch(/^--phone must/)
    await cli.run(clients.createClient(amira))
    const again = clients.createClient(amira)
    expect(await cli.refusal(again)).toBe(
      "--phone belongs to another account. Give another number, or correct the other account first."
    )
  })

  it("a refusal ends with one full stop, whether or not the store says what to do", () => {
    const ofStore = (remedy?: string) =>
      commandRefusal(new StoreUnavailable(remedy === undefined ? {} : { remedy })).message
    expect(ofStore("The database does not exist. Create it.")).toBe("The database does not exist. Create it.")
    expect(ofStore()).toBe(
      "The store cannot be reached. Check --database-url, and that the database server is running."
    )
  })

  it("a client's offers are listed, accepted, and blocked only after a confirmation", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const { id } = (await cli.run(clients.createClient(amira))).data
    expect((await cli.run(clients.listOffers(id))).lines).toEqual(["No tickets are offered to this client."])
    await offer(cli, shop)
    await offer(cli, shop)
    const { data } = await cli.run(clients.listOffers(id))
    expect(data).toMatchObject([
      { shop_id: shop, status: "open" },
      { shop_id: shop, status: "open" }
    ])
    const [first, second] = data
    const other = (await cli.run(clients.createClient({ ...amira, phone: "+21620999999" }))).data
    const foreign = clients.acceptOffer(other.id, first.id)
    expect(await cli.refusal(foreign)).toMatch(/no offer with this id/i)
    await cli.run(clients.acceptOffer(id, first.id))
    const twice = clients.acceptOffer(id, first.id)
    expect(await cli.refusal(twice)).toBe("The offer was already answered.")
    cli.answer = ""
    expect(await cli.refusal(clients.blockShop(id, second.id, false))).toBe("Nothing was changed.")
    await cli.run(clients.blockShop(id, second.id, true))
    expect(await cli.refusal(clients.showClient(id, shop))).toBe(
      "This shop does not know a client with this id or phone number."
    )
  })
})

describe("a client's rights", () => {
  it("workshop client export prints all data of a client as JSON, with or without --json", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const { id } = (await cli.run(clients.createClient(amira))).data
    await offer(cli, shop)
    const { data, lines } = await cli.run(clients.exportClient(id))
    expect(data).toMatchObject({ account: { given_name: "Amira", phone: amira.phone }, shops: [{ shop_id: shop }] })
    expect(JSON.parse(lines.join("\n"))).toEqual(data)
  })

  it("workshop client correct changes only the named fields, and names the flag of an invalid one", async () => {
    await using cli = new OwnerCli()
    const { id } = (await cli.run(clients.createClient(amira))).data
    const nothing = { given_name: null, family_name: null, phone: null, hide_name: null }
    const corrected = await cli.run(clients.correctClient(id, { ...nothing, family_name: "Baccar", hide_name: false }))
    expect(corrected.data).toMatchObject({ given_name: "Amira", family_name: "Baccar", hide_name: false })
    expect(await cli.refusal(clients.correctClient(id, nothing))).toMatch(/^Name the fields to correct/)
    expect(await cli.refusal(clients.correctClient(id, { ...nothing, phone: "20123" }))).toMatch(/^--phone must/)
  })

  it("workshop client erase asks for confirmation, names the affected shops, and accepts further numbers", async () => {
    await using cli = new OwnerCli()
    const shop = await open(cli)
    const { id } = (await cli.run(clients.createClient(amira))).data
    await offer(cli, shop)
    cli.answer = ""
    expect(await cli.refusal(clients.eraseClient(id, [], false))).toBe("Nothing was changed.")
    expect(await cli.refusal(clients.eraseClient(id, ["20123"], true))).toMatch(/^--also-phone must/)
    const { data, lines } = await cli.run(clients.eraseClient(id, ["+21655000111"], true))
    expect(data).toEqual({ id, shops: [shop] })
    expect(lines[0]).toContain(`in 1 shop: ${shop}`)
    const again = clients.eraseClient(id, [], true)
    expect(await cli.refusal(again)).toBe(
      `There is no account ${id}. Check the id. The account may already have been erased.`
    )
  })
})
