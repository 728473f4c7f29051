// npm run screenshots takes the pictures of docs/tracking-pages.md with a real browser. With a folder, as in
// `npm run screenshots -- /tmp/pages`, it writes a picture of every page in every language and scheme to the folder.
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { chromium } from "playwright-core"
import { start } from "../packages/core/dist/promise.js"
import { SettableClock } from "../packages/core/dist/testing.js"
import { mountNode } from "../packages/http-node/dist/index.js"
import * as MemoryStore from "../packages/store-memory/dist/index.js"
import { chromiumPath, NO_CHROMIUM } from "./chromium.mjs"
import { trackedTickets } from "./trackedTickets.mjs"

const executablePath = chromiumPath()
if (executablePath === undefined) {
  console.error(`Cannot take pictures: ${NO_CHROMIUM}.`)
  process.exit(1)
}

/** @typedef {{ name: string, ticket: string, language: string, width: number, scheme: "light" | "dark" }} Look */

/** @type {ReadonlyArray<Look>} */
const shown = [
  { name: "tracking-page", ticket: "delayed", language: "en", width: 390, scheme: "light" },
  { name: "tracking-page-arabic", ticket: "ready", language: "ar-TN", width: 390, scheme: "dark" }
]

const [folder] = process.argv.slice(2)

/** @type {ReadonlyArray<Look>} */
const all = ["delayed", "ready", "impossible", "collected", "order", "unknown"].flatMap((ticket) =>
  ["en", "fr-TN", "ar-TN"].flatMap((language) =>
    [390, 900].flatMap((width) =>
      /** @type {const} */ (["light", "dark"]).map((scheme) => ({
        name: `${ticket}-${language}-${width}-${scheme}`,
        ticket,
        language,
        width,
        scheme
      }))
    )
  )
)

const clock = new SettableClock(Date.parse("2026-11-20T08:30:00.000Z"))
const workshop = await start({ store: MemoryStore.layer, clock, background: false })
const codes = await trackedTickets(workshop, clock)
const server = createServer(mountNode(workshop, { trackingPages: {} }))
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)))
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address())
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })

/** @param {Look} look */
const take = async ({ ticket, language, width, scheme }) => {
  const context = await browser.newContext({
    ...{ locale: language, colorScheme: scheme, viewport: { width, height: 500 } },
    ...{ deviceScaleFactor: 2, extraHTTPHeaders: { "X-Forwarded-For": "192.0.2.1" } }
  })
  // The clock moves, because every request counts against the limit of an address.
  clock.advance(2000)
  const page = await context.newPage()
  await page.goto(`http://127.0.0.1:${port}/t/${codes[ticket]}`)
  const height = await page.evaluate("document.documentElement.scrollHeight")
  await page.setViewportSize({ width, height })
  const session = await context.newCDPSession(page)
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 })
  await context.close()
  return Buffer.from(data, "base64")
}

if (folder !== undefined) mkdirSync(folder, { recursive: true })
for (const look of folder === undefined ? shown : all) {
  const path = `${folder ?? "docs"}/${look.name}.webp`
  const image = await take(look)
  writeFileSync(path, image)
  console.log(`Wrote ${path}, ${Math.ceil(image.length / 1024)} KiB`)
}
await browser.close()
server.close()
await workshop.stop()
