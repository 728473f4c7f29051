import { TrackingPages } from "@workshop/core"
import { Effect, Layer } from "effect"
import type { CommandRefused } from "../CommandRefused.js"
import { flagValue, optionalFlag, toggleFlag } from "../terminal/commands.js"
import { textMatching } from "../terminal/decoders.js"

const isPublicUrl = (text: string): boolean => {
  const { protocol, search, hash } = URL.canParse(text) ? new URL(text) : { protocol: "", search: "", hash: "" }
  return /^https?:$/.test(protocol) && search === "" && hash === ""
}

/** The flags of the clients' pages; all processes on one database need the same values. */
export const trackingOptions = {
  trackingPages: toggleFlag(
    "tracking-pages",
    "Show each ticket to its client at /t/{tracking_code}, without a key. The ticket's tracking_url is then this address."
  ),
  publicUrl: optionalFlag(
    "--public-url <url>",
    "For --tracking-pages, the address by which clients reach the server, such as https://tickets.example. The default is the address on which serve listens.",
    { decoder: textMatching("must be an http or https address, such as https://tickets.example", isPublicUrl) }
  )
}

/** The beginning of `tracking_url` on the server at an address. */
export const trackingBase = (url: string): string => `${url.replace(/(?<!\/)\/+$/, "")}/t/`

/** The address of the pages, by the flags; null if they are off, or if `--public-url` is missing. */
export const trackingPagesOf = (flags: { readonly trackingPages: boolean; readonly publicUrl: string | null }) => ({
  base_url: flags.trackingPages && flags.publicUrl !== null ? trackingBase(flags.publicUrl) : null
})

/** The address of the pages, read only from the environment, for commands that run while a server runs. */
export const trackingPagesLayer: Layer.Layer<TrackingPages, CommandRefused> = Layer.unwrapEffect(
  Effect.gen(function* () {
    const trackingPages = yield* flagValue(trackingOptions.trackingPages, [])
    const publicUrl = yield* flagValue(trackingOptions.publicUrl, [])
    return Layer.succeed(TrackingPages, trackingPagesOf({ trackingPages, publicUrl }))
  })
)
