import { appCaller, ShopId, TicketInput, Tickets, TrackingPages } from "@workshop/core"
import { Effect, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as shops from "../../src/owner/ShopCommand.js"
import * as tickets from "../../src/owner/TicketCommand.js"
import { lac, OwnerCli } from "./OwnerCli.js"

const ticketIn = async (cli: OwnerCli, shop = lac) => {
  const { data } = await cli.run(shops.createShop(shop))
  const input = Schema.decodeSync(TicketInput)({ service: "Hem" })
  const caller = appCaller(Schema.decodeSync(ShopId)(data.id))
  const made = await cli.meanwhile(Effect.flatMap(Tickets, (all) => all.create(caller, input)))
  return String(made.data.tracking_code)
}
const pages = { base_url: "https://tickets.example/t/" }

describe("workshop ticket qr (docs/tracking-pages.md)", () => {
  it("workshop ticket qr prints the QR code of the server's own page as text with the address below it, or as SVG", async () => {
    await using cli = new OwnerCli()
    const code = await ticketIn(cli)
    const asked = (isSvg: boolean) =>
      cli.run(Effect.provideService(tickets.ticketQr(code.toLowerCase(), null, isSvg), TrackingPages, pages))
    const { data, lines } = await asked(false)
    expect(data).toMatchObject({ tracking_code: code, tracking_url: `https://tickets.example/t/${code}` })
    expect(lines.at(-1)).toBe(data.tracking_url)
    expect(lines.slice(0, -1).every((line) => /^[█▀▄ ]{30,}$/.test(line))).toBe(true)
    expect((await asked(true)).lines).toEqual([data.svg.trimEnd()])
  })

  it("workshop ticket qr prints the QR code of the shop's own page if it has one", async () => {
    await using cli = new OwnerCli()
    const code = await ticketIn(cli, { ...lac, tracking_base_url: "https://lac.example/suivi/" })
    const { data } = await cli.run(Effect.provideService(tickets.ticketQr(code, null, false), TrackingPages, pages))
    expect(data.tracking_url).toBe(`https://lac.example/suivi/${code}`)
  })

  it("workshop ticket qr says what to do for an unknown code or ticket, and if there is no page", async () => {
    await using cli = new OwnerCli()
    const code = await ticketIn(cli)
    expect(await cli.refusal(tickets.ticketQr("boots", null, false))).toBe(
      '"boots" is not a tracking code. Give the eight letters and digits on the receipt, such as 7K3M-Q9XD.'
    )
    expect(await cli.refusal(tickets.ticketQr("0000-0000", null, false))).toBe(
      "No ticket has the tracking code 0000-0000. Check the code, and --database-url."
    )
    expect(await cli.refusal(tickets.ticketQr(code, null, false))).toBe(
      "The ticket has no page. Add --tracking-pages and --public-url (or set WORKSHOP_TRACKING_PAGES and WORKSHOP_PUBLIC_URL) as for workshop serve, or create the shop with --tracking-base-url."
    )
    const other = "01980000-0000-7000-8000-000000000000"
    expect(await cli.refusal(tickets.ticketQr(code, other, false))).toContain("No ticket has the tracking code")
  })
})
