// Takes the pictures of docs/console.md with a real browser, as a part of npm run screenshots. They show a sandbox with
// a day of a few tickets and a receiver that failed.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { chromium } from "playwright-core"
import { chromiumPath, NO_CHROMIUM } from "./chromium.mjs"

const executablePath = chromiumPath()
if (executablePath === undefined) {
  console.error(`Cannot take pictures: ${NO_CHROMIUM}.`)
  process.exit(1)
}

const args = ["packages/cli/bin/workshop.js", "serve", "--sandbox", "--store", "memory", "--port", "0"]
const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
process.on("exit", () => server.kill())
let output = ""
while (!/^Open the sandbox/m.test(output)) output += String((await once(server.stdout, "data"))[0])
const base = /^Listening on (\S+)$/m.exec(output)?.[1] ?? ""

/** @param {string} method @param {string} path @param {unknown} [body] @param {Record<string, string>} [headers] */
const ask = async (method, path, body, headers = {}) => {
  const response = await fetch(base + path, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    body: body === undefined ? null : JSON.stringify(body)
  })
  return /** @type {any} */ (await response.json()).data
}

await ask("POST", "/sandbox/clock", { freeze: true })
await ask("POST", "/sandbox/clock", { to: "2027-01-11T08:30:00.000Z" })
const input = { name: "Cordonnerie du Lac", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
const { shop, key } = await ask("POST", "/sandbox/shops", input)
let n = 0
/** @param {string} path @param {unknown} body */
const till = (path, body) =>
  ask("POST", `/v1${path}`, body, { authorization: `Bearer ${key}`, "idempotency-key": `till-1-${++n}` })
/** @param {string} length */
const advance = (length) => ask("POST", "/sandbox/clock", { advance: length })
/** @param {object} behaviour */
const receiver = (behaviour) => ask("PUT", `/sandbox/shops/${shop.id}/receiver`, behaviour)

await receiver({ use: true })
await till("/tickets", { service: "Screen", item: "Phone", price_minor: 120_000 })
await till("/tickets", { service: "New lining", item: "Winter coat", price_minor: 60_000 })
await advance("40m")
const { id } = await till("/tickets", {
  service: "Resoling",
  item: "Brown boots",
  price_minor: 45_000,
  deposit_minor: 20_000
})
await till("/tickets", { service: "Hem", item: "Grey trousers", price_minor: 12_000 })
await advance("1h37m")
await receiver({ answer: 503, times: 2 })
await till(`/tickets/${id}/status`, { status: "ready" })
await advance("37m")
await till(`/tickets/${id}/status`, { status: "collected" })
await till(`/tickets/${id}/status`, { status: "impossible" })
await advance("19h")
await till(`/tickets/${id}/status`, { status: "workshop" })
await advance("5h")
await receiver({ answer: 500 })
await till(`/tickets/${id}/status`, { status: "ready" })
await advance("6m")
await receiver({ answer: 410 })
await advance("30m")

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
for (const { name, width, height, scheme } of /** @type {const} */ ([
  { name: "console", width: 1440, height: 900, scheme: "light" },
  { name: "console-dark", width: 1440, height: 900, scheme: "dark" },
  { name: "console-phone", width: 390, height: 844, scheme: "light" }
])) {
  const context = await browser.newContext({
    ...{ viewport: { width, height }, colorScheme: scheme, deviceScaleFactor: width < 500 ? 2 : 1 }
  })
  const page = await context.newPage()
  await page.goto(`${base}/console#${shop.id}/${id}`)
  await page.getByText("live", { exact: true }).waitFor({ state: "attached" })
  if (width < 500)
    await page.getByRole("navigation", { name: "Areas" }).getByRole("button", { name: "Ticket", exact: true }).click()
  await page.locator(".delivery").nth(4).waitFor({ state: "attached" })
  const session = await context.newCDPSession(page)
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 })
  const image = Buffer.from(data, "base64")
  writeFileSync(`docs/${name}.webp`, image)
  console.log(`Wrote docs/${name}.webp, ${Math.ceil(image.length / 1024)} KiB`)
  await context.close()
}
await browser.close()
process.exit()
