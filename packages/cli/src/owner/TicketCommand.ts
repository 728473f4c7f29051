import { ShopId, TrackingPages } from "@workshop/core"
import { TrackingCodeText, trackingUrl } from "@workshop/core/internal"
import { paintPlain } from "@workshop/core/internal/terminal"
import { Directory } from "@workshop/core/store"
import { qrSvg } from "@workshop/http-node"
import { qrLines } from "@workshop/http-node/internal"
import { Effect, Schema } from "effect"
import { refuse } from "../CommandRefused.js"
import { trackingOptions, trackingPagesOf } from "../serve/TrackingOptions.js"
import { flagsOf, optionalFlag } from "../terminal/commands.js"
import type { Output } from "../terminal/Output.js"
import { group, Operand } from "../terminal/program.js"
import { idFrom, ownerCommand } from "./ownerCommand.js"

const codeFrom = (typed: string) =>
  Effect.mapError(Schema.decode(TrackingCodeText)(typed), () =>
    refuse(`"${typed}" is not a tracking code. Give the eight letters and digits on the receipt, such as 7K3M-Q9XD.`)
  )

/** The address of a ticket's page: at the base that its shop has set, or on the server's own pages. */
const pageOf = Effect.fnUntraced(function* (typed: string, shop: string | null) {
  const code = yield* codeFrom(typed)
  const shop_id = shop === null ? null : yield* idFrom(ShopId, "a shop", shop)
  const all = yield* Effect.flatMap(Directory, (directory) => directory.tracked(code))
  const tickets = all.filter(({ shop }) => shop_id === null || shop.id === shop_id)
  const [ticket] = tickets
  if (ticket === undefined)
    return yield* refuse(`No ticket has the tracking code ${code}. Check the code, and --database-url.`)
  if (tickets.length > 1)
    return yield* refuse(`Several shops have a ticket with the tracking code ${code}. Choose the shop with --shop.`)
  const url = trackingUrl(ticket.shop.tracking_base_url ?? (yield* TrackingPages).base_url, code)
  if (url !== null) return { tracking_code: code, tracking_url: url }
  return yield* refuse(
    "The ticket has no page. Add --tracking-pages and --public-url (or set WORKSHOP_TRACKING_PAGES and WORKSHOP_PUBLIC_URL) as for workshop serve, or create the shop with --tracking-base-url."
  )
})

// Prints a light code on a dark background in every terminal, because not every scanner reads an inverted code.
const paintOnDark = (line: string): string => `\u001b[97;40m${line}\u001b[0m`

/** Prints the QR code of a ticket's page, for a receipt. */
export const ticketQr = Effect.fnUntraced(function* (code: string, shop: string | null, isSvg: boolean) {
  const page = yield* pageOf(code, shop)
  const svg = qrSvg(page.tracking_url)
  const output: Output = {
    data: { ...page, svg },
    lines: ({ paint }) => {
      if (isSvg) return [svg.trimEnd()]
      const lines = qrLines(page.tracking_url)
      return [...(paint === paintPlain ? lines : lines.map(paintOnDark)), page.tracking_url]
    }
  }
  return output
})

const own = flagsOf("ticket")

/** `workshop ticket` (docs/tracking-pages.md). */
export const ticketCommand = group({ name: "ticket", examples: ["workshop ticket qr 7K3M-Q9XD"] }, [
  ownerCommand({
    name: "qr",
    description: "Print the QR code of a ticket's page, for a receipt",
    examples: [
      "workshop ticket qr 7K3M-Q9XD --tracking-pages --public-url https://tickets.example",
      "workshop ticket qr 7K3M-Q9XD --svg > code.svg"
    ],
    options: {
      svg: own.toggle("svg", "Print the QR code as SVG."),
      shop: optionalFlag(
        "--shop <id>",
        "The ticket's shop; needed only if several shops have a ticket with this code.",
        {
          isEmptyValue: true
        }
      ),
      ...trackingOptions,
      code: new Operand<string>("<code>", "The tracking code of the ticket.")
    },
    run: ({ code, shop, svg, ...pages }) =>
      Effect.provideService(ticketQr(code, shop, svg), TrackingPages, trackingPagesOf(pages))
  })
])
