import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { runScenario } from "@workshop/cli/scenario"
import { Entropy } from "@workshop/core"
import { pipeline, webHandler } from "@workshop/core/http"
import { pages } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import axe from "axe-core"
import { Effect, Layer, ManagedRuntime } from "effect"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bundle } from "../packages/console/scripts/bundle.mjs"
import { chromiumPath, NO_CHROMIUM } from "../scripts/chromium.mjs"
import { ConsoleSandbox, DroppingProxy, type Json, START } from "./consolePage.js"

const executablePath = chromiumPath()
if (executablePath === undefined) console.warn(`The console is not tried in a real browser: ${NO_CHROMIUM}.`)

const TOKEN = "a-token-of-more-than-32-characters"
const LIKE = { currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

beforeAll(() => bundle(), 60_000)

describe("/console (Specification, Sandbox)", () => {
  let sandbox: ConsoleSandbox
  beforeAll(async () => {
    sandbox = await ConsoleSandbox.open()
  }, 60_000)
  afterAll(() => sandbox?.close())

  it("is a page whose every part the sandbox serves itself, under 200 kB together, and / leads to it", async () => {
    const response = await fetch(sandbox.base)
    expect([response.status, response.url]).toEqual([200, `${sandbox.base}/console`])
    const html = await response.text()
    const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? "")
    expect(addresses).toEqual(["data:,", "console/console.css", "sandbox/openapi.json", "console/console.js"])
    const parts = await Promise.all(
      addresses.filter((address) => /^console/.test(address)).map((part) => fetch(`${sandbox.base}/${part}`))
    )
    expect(parts.map(({ status }) => status)).toEqual([200, 200])
    const bytes = await Promise.all(parts.map(async (part) => gzipSync(await part.arrayBuffer()).length))
    expect(bytes.reduce((sum, length) => sum + length, 0)).toBeLessThan(200_000)
    const policy = response.headers.get("content-security-policy") ?? ""
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/https?:|unsafe-eval|script-src[^;]*unsafe-inline/)
  })

  it("is found with a slash at its end too, and takes no other method", async () => {
    expect((await fetch(`${sandbox.base}/console/`)).url).toBe(`${sandbox.base}/console`)
    expect((await fetch(`${sandbox.base}/console`, { method: "POST" })).status).toBe(404)
    expect((await fetch(`${sandbox.base}/console/package.json`)).status).toBe(404)
  })

  it("is not found without a sandbox", async () => {
    const runtime = ManagedRuntime.make(Layer.provideMerge(MemoryStore.layer, Entropy.layerSeeded(2)))
    const answer = await runtime.runPromise(
      Effect.gen(function* () {
        return webHandler(yield* pipeline(yield* pages()), yield* Effect.runtime<never>())
      })
    )
    for (const path of ["/console", "/console/console.js", "/"])
      expect((await answer(new Request(`http://127.0.0.1${path}`))).status).toBe(404)
    await runtime.dispose()
  })
})

describe.skipIf(executablePath === undefined)("the console in Chromium", { timeout: 120_000 }, () => {
  let browser: Browser
  let sandbox: ConsoleSandbox
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox"] })
    sandbox = await ConsoleSandbox.open()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await sandbox?.close()
  })

  const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true })
  const side = (page: Page, name: string) =>
    page.getByRole("navigation", { name: "Beside the ticket" }).getByRole("button", { name }).click()

  it("shows a till's ticket at once, with its moves lit or greyed, and what a refused one says", async () => {
    const { page, complaints } = await sandbox.page(browser)
    await page.getByText("live", { exact: true }).waitFor()
    const { number_label } = await sandbox.till("POST", "/tickets", { service: "Resoling", item: "Brown boots" })
    await page.getByRole("button", { name: `${number_label} Brown boots: resoling` }).click()
    const moves = region(page, "What can be done")
    expect(await moves.locator(".statuses .lit").allInnerTexts()).toEqual([
      expect.stringContaining("Ready"),
      expect.stringContaining("Impossible")
    ])
    await moves.getByRole("button", { name: /Collected/ }).click()
    await page
      .getByText(/409 INVALID_TRANSITION/)
      .first()
      .waitFor()
    await moves.getByRole("button", { name: /^r ?Ready/ }).click()
    await region(page, "Ticket").locator(".pill.ready").waitFor()
    await region(page, "Live").getByText(`ticket.ready ${number_label}`).waitFor()
    await page.locator(".marker.request.bad").waitFor()
    // What came before the webhook is not sent by itself, and says so.
    await page.getByRole("button", { name: "Use the built-in receiver" }).first().press("Enter")
    // The button goes; the focus stays in its panel.
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Ticket")
    const deliveries = region(page, "Deliveries")
    await deliveries.getByText("Its 2 events came before the webhook was set").waitFor()
    await deliveries.getByRole("button", { name: "Send 2 events" }).click()
    await page.locator("output.said").getByText("2 events on the way").waitFor()
    for (const event of ["ticket.created", "ticket.ready"]) {
      await sandbox.sandbox("POST", "/clock", { advance: "0ms" })
      await deliveries.locator(".delivery", { hasText: event }).getByText("✓ 200").waitFor()
    }
    await page.getByRole("button", { name: "Copy link" }).click()
    await page.locator("output.said").getByText("the address of this ticket").waitFor()
    expect(complaints.filter((text) => !text.includes("409"))).toEqual([])
    await page.context().close()
  })

  it("makes a retry happen by moving time to what falls due next, and sends parked events on", async () => {
    const page = await sandbox.samePage(browser)
    await sandbox.sandbox("POST", "/clock", { freeze: true })
    await sandbox.sandbox("PUT", `/shops/${sandbox.shop}/receiver`, { use: true, answer: 500 })
    const ticket = await sandbox.till("POST", "/tickets", { service: "Hem", item: "Grey trousers" })
    await sandbox.sandbox("POST", "/clock", { advance: "0ms" })
    await page.getByRole("button", { name: `${ticket.number_label} Grey trousers: hem` }).click()
    const deliveries = region(page, "Deliveries")
    await deliveries.getByText("✗ 500").waitFor()
    await page.getByRole("button", { name: "Agenda" }).click()
    await page.getByRole("button", { name: /^Go to: .*ticket\.created/ }).click()
    await deliveries.getByText("✗ 500").nth(1).waitFor()
    await side(page, "Webhook")
    await page.getByRole("group", { name: "How the receiver responds" }).getByText("410").click()
    await page.locator("body").press(".")
    await deliveries.getByText(/The webhook is off/).waitFor()
    await page.getByRole("group", { name: "How the receiver responds" }).getByText("200").click()
    await deliveries.getByRole("button", { name: "Turn on and send 1" }).click()
    await page.getByRole("button", { name: "+1 m" }).click()
    await deliveries.getByText("✓ 200").waitFor()
    await deliveries.getByRole("button", { name: "Send again" }).click()
    await page.getByRole("button", { name: "+1 m" }).click()
    await deliveries.getByText("✓ 200").nth(1).waitFor()
    await page.locator(".lane-names").getByText("notices").waitFor()
    const webhook = region(page, "Webhook")
    await webhook.getByText("cut: cuts the connection before a response").waitFor()
    const received = webhook.locator(".received summary").first()
    await received.getByText("✓ signed").waitFor()
    expect(await received.textContent()).toMatch(
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\s*ticket.created ${ticket.number_label}`)
    )
    await page.getByRole("button", { name: "+24 h" }).click()
    await expect.poll(() => received.textContent()).toMatch(/^\d+ Nov \d\d:\d\d/)
  })

  it("shows the webhook's secret until it is dismissed, and says what came of a ping", async () => {
    const page = await sandbox.samePage(browser)
    const { shop } = await sandbox.sandbox("POST", "/shops", { ...LIKE, name: "Its own receiver" })
    await page.reload()
    await page.getByLabel("Shop", { exact: true }).selectOption(shop.id)
    await side(page, "Webhook")
    const address = page.getByLabel("Address of the webhook")
    await address.fill("localhost:3000/hook")
    await page.keyboard.press("Enter")
    await page.getByText(/Address of the webhook \(url\) must start with https:\/\/, or with http:\/\//).waitFor()
    await address.fill("http://127.0.0.1:9/hook")
    await page.keyboard.press("Enter")
    const secret = region(page, "Secret of the webhook")
    await secret.getByText(/whsec_/).waitFor()
    await page.getByRole("button", { name: "Send a ping" }).click()
    await page.locator("output.said").getByText("Ping to 127.0.0.1:9: ").waitFor()
    await secret.getByRole("button", { name: "Dismiss" }).click()
    await secret.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "New secret" }).click()
    await secret.getByText(/whsec_/).waitFor()
  })

  it("moves the clock to a millisecond before what falls due, which has not happened, and after it, when it has", async () => {
    const page = await sandbox.samePage(browser)
    await sandbox.sandbox("POST", "/clock", { freeze: true })
    await sandbox.till("POST", "/tickets", { service: "Left behind" })
    const closures = async (): Promise<Array<Json>> =>
      (await sandbox.sandbox("GET", `/agenda?shop=${sandbox.shop}`)).filter(({ kind }: Json) => kind === "closure")
    const [due] = await closures()
    for (const [name, beside] of [
      ["before", -1],
      ["after", 1]
    ] as const) {
      await page.getByRole("button", { name: "Agenda" }).click()
      await page.getByRole("button", { name: `1 ms ${name}: ${due.text}` }).click()
      const wanted = new Date(Date.parse(due.at) + beside).toISOString()
      await expect.poll(async () => (await sandbox.sandbox("GET", "/clock")).now).toBe(wanted)
      expect((await closures()).some(({ at, text }) => at === due.at && text === due.text)).toBe(beside < 0)
    }
  })

  it("loses the till's answer, repeats it, and creates one ticket", async () => {
    const page = await sandbox.samePage(browser)
    const count = async () => (await sandbox.sandbox("GET", `/shops/${sandbox.shop}/tickets?limit=1000`)).length
    const before = await count()
    await page.locator("body").press("n")
    await page.getByLabel("Service").fill("Zip")
    await page.getByLabel(/lose the response/).check()
    await page.getByRole("button", { name: "Create at the till" }).click()
    await page.getByText("The first response was lost. The same request again: 200, replayed").waitFor()
    expect(await count()).toBe(before + 1)
    // The browser's own repetition of a cut request is the repetition: there is no third.
    const requests: Array<Json> = await sandbox.sandbox("GET", `/requests?shop=${sandbox.shop}`)
    expect(requests.slice(-2).map(({ fault, replayed }) => [fault, replayed])).toEqual([
      ["lose_answer", false],
      [null, true]
    ])
    await region(page, "Live")
      .getByRole("button", { name: /POST .*response lost/ })
      .click()
    await page.getByText("It never arrived").waitFor()
    await region(page, "Live").getByText("fault applied: response lost").waitFor()
  })

  it("keeps a refused form open with what was entered, and says which field is wrong", async () => {
    const page = await sandbox.samePage(browser)
    const said = page.locator("output.said")
    await page.locator("body").press("n")
    await page.getByLabel("Service").fill("Coat")
    await page.getByLabel(/^Price/).fill("45 TND")
    await page.getByRole("button", { name: "Create at the till" }).click()
    await said.getByText('"45 TND" is no price').waitFor()
    expect(await page.getByLabel(/^Price/).inputValue()).toBe("45 TND")
    await page.getByLabel(/^Price/).fill("45")
    await page.getByLabel("Phone", { exact: true }).fill("20 123 456")
    await page.keyboard.press("Enter")
    await said.getByText(/400 .*Phone \(client_phone\) must/).waitFor()
    for (const [text, why] of [
      ["tomorrow", /"tomorrow" is no time to move the clock by or to: enter a length/],
      ["2020-01-01", /2020-01-01 is in the past/]
    ] as const) {
      await page.getByLabel(/Move the clock by a length of time/).fill(text)
      await page.keyboard.press("Enter")
      await said.getByText(why).waitFor()
    }
    const before = Date.parse((await sandbox.sandbox("GET", "/clock")).now)
    await page.getByLabel(/Move the clock by a length of time/).fill("2 minutes")
    await page.keyboard.press("Enter")
    await said.getByText("2 m later").waitFor()
    expect(Date.parse((await sandbox.sandbox("GET", "/clock")).now)).toBeGreaterThanOrEqual(before + 120_000)
    const { id } = await sandbox.till("POST", "/tickets", { service: "Buttons" })
    await page.locator(`[data-ticket="${id}"]`).click()
    await page.locator("[data-act=quote]").click()
    const price = page.getByRole("textbox", { name: "New price" })
    expect(await price.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true)
    await price.fill("abc")
    await page.keyboard.press("Enter")
    await said.getByText('"abc" is no price').waitFor()
    expect(await price.inputValue()).toBe("abc")
  })

  it("draws the folded timeline within its panel, without a text over another, and its present is dragged forward", async () => {
    const page = await sandbox.samePage(browser)
    const { id } = await sandbox.till("POST", "/tickets", { service: "Sole" })
    for (const [length, status] of [
      ["1m", "ready"],
      ["7m", "collected"],
      ["20h", "workshop"],
      ["3s", "ready"],
      ["2s", "impossible"],
      ["40d", "collected"]
    ] as const) {
      await sandbox.sandbox("POST", "/clock", { advance: length })
      await sandbox.till("POST", `/tickets/${id}/status`, { status })
    }
    await page.locator(`[data-ticket="${id}"]`).click()
    await page.locator(".stay.collected").first().waitFor()
    const box = page.locator(".timeline-scroll")
    expect(await box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(1)
    const texts = await page
      .locator(".axis text, .why, .window text")
      .evaluateAll((all) => all.map((one) => ({ text: one.textContent, ...one.getBoundingClientRect().toJSON() })))
    const over = texts.flatMap((one: Json, i) =>
      texts
        .slice(i + 1)
        .filter(
          (other: Json) =>
            one.left < other.right && other.left < one.right && one.top + 3 < other.bottom && other.top + 3 < one.bottom
        )
        .map((other: Json) => [one.text, other.text])
    )
    expect(over).toEqual([])
    // Nor does the line of the present run through a text.
    const line = await page.locator(".present line").boundingBox()
    expect(texts.filter((one: Json) => one.left < line!.x && line!.x < one.right && one.top > line!.y)).toEqual([])
    // Dragged to the right, the present moves the clock; to the left, it stays.
    const now = async () => Date.parse((await sandbox.sandbox("GET", "/clock")).now)
    const before = await now()
    const drag = async (by: number) => {
      const grip = await page.locator(".grip path").boundingBox()
      const [x, y] = [(grip?.x ?? 0) + 6, (grip?.y ?? 0) + 6]
      await page.mouse.move(x, y)
      await page.mouse.down()
      await page.mouse.move(x + by, y)
      await page.mouse.up()
    }
    await drag(-60)
    await drag(40)
    await expect.poll(now).toBeGreaterThan(before)
  })

  it("sets and takes away faults, and uses a limit up", async () => {
    const page = await sandbox.samePage(browser)
    await side(page, "API")
    const faults = region(page, "Faults of the API")
    await faults.getByRole("button", { name: "503" }).click()
    await faults.getByRole("button", { name: "Add the fault" }).click()
    await faults.getByText("POST /v1/tickets · 1 left").waitFor()
    expect(await sandbox.sandbox("GET", "/faults")).toMatchObject([{ fault: "503", method: "POST", next: 1 }])
    await faults.getByRole("button", { name: "Clear all faults" }).click()
    await faults.getByText("No faults.").waitFor()
    const gauge = page.locator(".gauge", { hasText: "tickets per hour" })
    await gauge.getByRole("button", { name: "Use up" }).click()
    await gauge.getByText("150 of 150").waitFor()
    await gauge.getByRole("button", { name: "Go to reset" }).click()
    await gauge.getByText("0 of 150").waitFor()
    const till = region(page, "Your till")
    await till.getByRole("button", { name: "Show" }).click()
    expect(await till.textContent()).toMatch(/wk_test_[\w-]{20,}/)
  })

  it("works with the keyboard alone: a new ticket, its statuses, the clock, the help", async () => {
    const page = await sandbox.samePage(browser)
    await page.getByText("live", { exact: true }).waitFor()
    await page.keyboard.press("n")
    await page.keyboard.type("Patch")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: /Patch/ }).waitFor()
    await page.locator("body").press("r")
    await region(page, "Ticket").locator(".pill.ready").waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("no such ticket")
    await page.getByText("No ticket is like that.").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: /Patch/ }).waitFor()
    expect(await page.getByRole("searchbox").inputValue()).toBe("")
    await page.locator("body").press("g")
    await page.keyboard.press("w")
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Webhook")
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).waitFor()
    await page.keyboard.press("Escape")
    const before = Date.parse((await sandbox.sandbox("GET", "/clock")).now)
    await page.keyboard.press("+")
    await expect.poll(async () => Date.parse((await sandbox.sandbox("GET", "/clock")).now)).toBe(before + 3_600_000)
    await page.locator(".grip").focus()
    await page.keyboard.press("ArrowRight")
    await expect.poll(async () => Date.parse((await sandbox.sandbox("GET", "/clock")).now)).toBe(before + 3_660_000)
    await page.locator("body").press("f")
    await region(page, "Live").waitFor({ state: "detached" })
    await side(page, "Live")
    await region(page, "Live").getByText("clock runs").first().waitFor()
    await page.locator("body").press("f")
    await region(page, "Live").getByText("clock frozen").first().waitFor()
    // The board has its columns beside each other, and makes room for a ticket.
    await page.getByRole("button", { name: "board" }).click()
    const columns = await page
      .locator(".board section")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left))
    expect(new Set(columns).size).toBe(5)
    await page.locator(".board .ticket").first().click()
    await region(page, "Ticket").locator(".grip").focus()
    const [due] = await sandbox.sandbox("GET", `/agenda?shop=${sandbox.shop}`)
    await page.keyboard.press("End")
    await expect
      .poll(async () => Date.parse((await sandbox.sandbox("GET", "/clock")).now))
      .toBeGreaterThan(Math.min(Date.parse(due.at), before + 3_660_000))
  })

  it.each([
    ["light", 1440],
    ["dark", 390]
  ] as const)("is accessible by WCAG 2.2 AA: %s, %i pixels wide", async (colorScheme, width) => {
    const { page } = await sandbox.page(browser, { colorScheme, viewport: { width, height: 844 } })
    await page.locator(".ticket").first().click()
    await page.locator(".timeline svg").waitFor()
    await page.evaluate(axe.source)
    if (width < 500)
      await page.getByRole("navigation", { name: "Areas" }).getByRole("button", { name: "Ticket", exact: true }).click()
    expect(await page.locator(".lane-names span:visible").allInnerTexts()).toContain("events")
    await page.getByText("Drag the red mark to the right to move the clock").waitFor()
    for (const tab of ["Ticket", "Live", "Webhook", "API", "Record"]) {
      const name = width > 1000 ? "Beside the ticket" : "Areas"
      const button = page
        .getByRole("navigation", { name })
        .getByRole("button", { name: new RegExp(`^${tab}( look here)?$`) })
      if ((await button.count()) > 0) await button.click()
      const { violations } = (await page.evaluate(
        // Only the panel is another one from the second tab on.
        `axe.run(${tab === "Ticket" ? "document" : "'.side > .panel'"}, { runOnly: { type: "tag", values: ${JSON.stringify(WCAG)} } })`
      )) as { readonly violations: ReadonlyArray<{ id: string; nodes: ReadonlyArray<{ html: string }> }> }
      expect([tab, width, violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])]).toEqual([
        tab,
        width,
        []
      ])
    }
    const sideways = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    expect(sideways).toBe(0)
    await page.context().close()
  })

  it("records clicks and a till's requests as a scenario that runs green, and says what it cannot record", async () => {
    const page = await sandbox.samePage(browser)
    const old = await sandbox.till("POST", "/tickets", { service: "Older" })
    await sandbox.sandbox("PUT", `/shops/${sandbox.shop}/receiver`, { use: true })
    await side(page, "Record")
    const record = region(page, "Recording")
    await record.getByLabel(/in a new shop/).uncheck()
    await record.getByRole("button", { name: "● Start recording" }).click()
    await record.getByText("● 0 acts").waitFor()
    const made = {
      service: "Resoling",
      item: 'Brown boots: "old" #1',
      price_minor: 45_000,
      client_phone: "+21620999888"
    }
    const { id } = await sandbox.till("POST", "/tickets", made, "till-same")
    await record.getByText("● 1 act", { exact: true }).waitFor()
    // A reload loses nothing, not even what the till sends meanwhile.
    const [loaded] = await Promise.all([page.reload(), sandbox.till("POST", "/tickets", made, "till-same")])
    expect(loaded?.status()).toBe(200)
    await page.getByText("The recording continues.").waitFor()
    await sandbox.till("GET", `/tickets/${id}`)
    await sandbox.till("POST", `/tickets/${id}/notified`, { channel: "sms" })
    await sandbox.till("POST", `/tickets/${old.id}/status`, { status: "ready" })
    await sandbox.till("POST", "/tickets", { service: "" })
    await record.getByText("● 6 acts").waitFor()
    await page.locator(`[data-ticket="${id}"]`).click()
    const moves = region(page, "What can be done")
    await moves.getByRole("button", { name: /Collected/ }).click()
    await record.getByText("● 7 acts").waitFor()
    await moves.getByRole("button", { name: "Lose the next response" }).click()
    await moves.locator("[data-act='status:ready']").click()
    await record.getByText("● 10 acts").waitFor()
    await moves.getByRole("button", { name: /Delay/ }).click()
    await moves.getByRole("button", { name: "Delay", exact: true }).click()
    await record.getByText("● 11 acts").waitFor()
    await moves.locator("[data-act='quote']").click()
    await moves.getByRole("textbox", { name: "New price" }).fill("50")
    await moves.getByRole("button", { name: "New price", exact: true }).click()
    await moves.locator("[data-act=accept].lit").click()
    await record.getByText("● 13 acts").waitFor()
    await page.getByRole("button", { name: "+24 h" }).click()
    await record.getByText("● 14 acts").waitFor()
    await record.getByRole("button", { name: "Expect what was received" }).click()
    await record.getByText("● 15 acts").waitFor()
    await page
      .locator("output.said")
      .getByText(/^✓ The last step expects what was received: \d+ events\.$/)
      .waitFor()
    // No field of a response that was lost can be expected.
    const lost = record.locator(".steps-recorded > li", { hasText: "expect: lost" })
    expect([await lost.count(), await lost.getByText("expect a field…").count()]).toEqual([1, 0])
    await record.getByText("expect a field…").last().click()
    await record.getByRole("button", { name: "money.price_minor: 50000" }).click()
    await record.getByRole("button", { name: "■ Stop recording" }).click()
    await record.getByText("1 act is not in the file: its reason is below.").waitFor()
    await record.getByText(/status cannot be recorded: ticket \d+ was made before the recording began/).waitFor()
    await record.getByText("The whole file").click()
    const text = await record.locator("[data-scenario]").textContent()
    const folder = mkdtempSync(join(tmpdir(), "workshop-recorded-"))
    writeFileSync(join(folder, "recorded.yaml"), text ?? "")
    const { passed, steps } = await runScenario(join(folder, "recorded.yaml")).catch((error: unknown) => {
      throw new Error(`${error}\n${text}`)
    })
    rmSync(folder, { recursive: true })
    expect([passed, steps.length]).toEqual([true, 15])
    expect(text).toContain("expect: 409 INVALID_TRANSITION")
    expect(text).toMatch(/expect new received: \{ \$unordered: \[ticket.created, client.notified/)
    expect(text).toContain("expect: lost")
    expect(text).toContain("promised_at: $now + 2d")
    expect(text).toContain("- advance: 1d")
    // Nothing that could pass but once against the same sandbox.
    expect(text).toMatch(/steps:\n {2}- set clock: "\d\d:\d\d:\d\d\.\d{3}"\n/)
    expect(text).not.toMatch(/^ {4}.*phone: "/m)
  })

  it("draws what is seen alone of a hundred tickets and 5,000 rows", async () => {
    const many = await ConsoleSandbox.open()
    const { page } = await many.page(browser)
    await page.getByText("live", { exact: true }).waitFor()
    for (let n = 0; n < 100; n++)
      await many.sandbox("POST", `/shops/${many.shop}/tickets`, { service: `Hem ${n}`, price_minor: 1000 })
    const at = new Date(START).toISOString()
    const rows = Array.from({ length: 5000 }, (_, i) => {
      const data = { id: `e${i}`, type: "ticket.ready", created_at: at, shop_id: many.shop, data: {} }
      return `id: ${1000 + i}\nevent: event\ndata: ${JSON.stringify(data)}\n\n`
    })
    let isTold = false
    await page.route("**/sandbox/stream?**", (route) => {
      const body = isTold ? ": nothing new\n\n" : rows.join("")
      isTold = true
      return route.fulfill({ headers: { "content-type": "text/event-stream" }, body })
    })
    await page.addInitScript(
      "window.longTasks = 0; new PerformanceObserver((list) => { window.longTasks += list.getEntries().length }).observe({ type: 'longtask' })"
    )
    await page.reload()
    await region(page, "Live").getByText("5000", { exact: true }).waitFor()
    await page.getByRole("button", { name: "40 more" }).waitFor()
    for (const share of [0.2, 0.5, 0.9, 1]) {
      await page.evaluate(
        `document.querySelector(".feed").scrollTop = document.querySelector(".feed").scrollHeight * ${share}`
      )
      await page.locator(".feed-row").first().waitFor()
      expect(await page.locator(".feed-row").count()).toBeLessThan(80)
    }
    expect(await page.locator(".ticket").count()).toBe(60)
    console.log(`5,000 rows and 100 tickets: ${await page.evaluate("window.longTasks")} long tasks`)
    await page.context().close()
    await many.close()
  })

  it("goes on where it was after the stream is dropped, and two consoles show the same", async () => {
    const proxy = await DroppingProxy.open(sandbox.base)
    const { page } = await sandbox.page(browser, {}, proxy.base)
    const other = await sandbox.page(browser)
    await page.getByText("live", { exact: true }).waitFor()
    const rows = async () => Number(await page.locator(".area-live > header > .dim").textContent())
    const before = await rows()
    proxy.drop()
    await page.getByRole("alert").getByText("The server does not respond.").waitFor()
    expect(await page.locator(".clock-bar").getAttribute("inert")).not.toBeNull()
    const { number_label } = await sandbox.till("POST", "/tickets", { service: "Missed" })
    // A page whose server is away says so wherever it cannot do what is asked.
    await page.locator("body").press("j")
    await page.getByRole("heading", { name: "The server does not respond" }).waitFor()
    expect(await page.getByRole("button", { name: "Show me a retry" }).isDisabled()).toBe(true)
    await page.locator("body").press("n")
    await page.getByLabel("Service").fill("Unheard")
    await page.keyboard.press("Enter")
    const silent = page.locator("output.said").getByText("The server does not respond, so nothing was done.")
    await silent.waitFor()
    proxy.restore(sandbox.base)
    await silent.waitFor({ state: "detached" })
    await page.getByText("live", { exact: true }).waitFor()
    for (const one of [page, other.page]) {
      await region(one, "Live").getByText(`ticket.created ${number_label}`).waitFor()
      await one.getByRole("button", { name: `${number_label} Missed` }).waitFor()
    }
    expect(await rows()).toBe(before + 2)
    await recordedBeside(page, other.page)
    await region(page, "Recording").getByLabel("in a new shop").check()
    await page.locator("body").press("R")
    await page.getByText("● 0 acts").waitFor()
    expect(await page.locator("select option:checked").first().textContent()).toBe("recording 1 of Atelier Lac")
    // A till that goes on with the key of the shop before is not recorded, and learns which key to use.
    const key = region(page, "Recording").locator("p", { hasText: "Give your till this shop’s key: " })
    const shopOf = (text: string) => fetch(`${proxy.base}/v1/shop`, { headers: { authorization: `Bearer ${text}` } })
    expect((await shopOf(sandbox.key)).status).toBe(200)
    await key.getByText("Your till used the key of Atelier Lac, so its request was not recorded.").waitFor()
    expect(await page.getByText("● 0 acts").isVisible()).toBe(true)
    expect((await shopOf((await key.locator("code").textContent()) ?? "")).status).toBe(200)
    await page.getByText("● 1 act", { exact: true }).waitFor()
    await key.waitFor({ state: "detached" })
    // A server that started again holds other data, and numbers what happens anew. A recording ends with it.
    const again = await ConsoleSandbox.open(null, 6)
    await again.till("POST", "/tickets", { service: "New" })
    await side(page, "Live")
    proxy.drop()
    proxy.restore(again.base)
    await page.getByText("The server started again. Its data are new: what was here is gone.").waitFor()
    await page.getByText("Your till’s key is now another one, which is in the tab API.").waitFor()
    await page.getByText("The recording ended, because the server started again.").waitFor()
    expect(await page.getByRole("button", { name: "■ Stop recording" }).count()).toBe(0)
    expect(await page.getByRole("button", { name: "Save", exact: true }).isVisible()).toBe(true)
    await side(page, "Live")
    await region(page, "Live").getByRole("button", { name: "ticket.created 0001" }).waitFor()
    await page.context().close()
    await other.page.context().close()
    proxy.close()
    await again.close()
  })

  /** One console records while another looks on, which learns why the clock is frozen, and is asked before it unfreezes it. */
  const recordedBeside = async (page: Page, other: Page) => {
    await side(page, "Record")
    await page.getByRole("button", { name: "● Start recording" }).click()
    await page.getByText("● 0 acts").waitFor()
    await other.locator(".face").getByText("by a recording").waitFor()
    await side(other, "Record")
    await other.getByText("The clock is frozen by a recording, in another console or one that was closed.").waitFor()
    // Playwright answers a question with no, unless it is told otherwise.
    await other.locator("body").press("f")
    expect((await sandbox.sandbox("GET", "/clock")).frozen).toBe(true)
    const hours = async () => (Date.parse((await sandbox.sandbox("GET", "/clock")).now) - before) / 3_600_000
    const before = Date.parse((await sandbox.sandbox("GET", "/clock")).now)
    const hourLater = other.getByRole("button", { name: "+1 h", exact: true })
    await hourLater.click()
    expect(await hours()).toBe(0)
    // Asked once, and not again for the next move.
    const questions: Array<string> = []
    other.on("dialog", (question) => {
      questions.push(question.message())
      return question.accept()
    })
    for (const later of [1, 2]) {
      await hourLater.click()
      await expect.poll(hours).toBe(later)
    }
    expect(questions).toEqual(["The clock is frozen by a recording, and each move becomes a step of that. Move it?"])
    await other.getByRole("button", { name: "Unfreeze the clock" }).click()
    await page.getByText("The clock was unfrozen elsewhere").waitFor()
    await page.getByRole("button", { name: "■ Stop recording" }).click()
    // The shop of a recording can be put away.
    const names = () => page.getByLabel("Shop", { exact: true }).locator("option").allInnerTexts()
    expect(await names()).toContain("recording 1 of Atelier Lac")
    await page.getByRole("button", { name: "New shop" }).click()
    await page.getByRole("button", { name: "Close the shop of this recording" }).click()
    await expect.poll(names).not.toContain("recording 1 of Atelier Lac")
    await page.getByLabel("Shop", { exact: true }).selectOption("Atelier Lac")
  }

  it("saves the sandbox as a file, begins anew, and opens the file again; another version is refused by name", async () => {
    const saved = await ConsoleSandbox.open()
    const { page } = await saved.page(browser)
    await saved.till("POST", "/tickets", { service: "Kept" })
    const kept = page.getByRole("button", { name: "0001 Kept" })
    await kept.waitFor()
    const session = () => page.getByRole("button", { name: "Session" }).click()
    await session()
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as a file" }).click()
    ])
    const file = await download.path()
    await session()
    // Playwright answers a question with no, unless it is told otherwise.
    await page.getByRole("button", { name: "Begin anew" }).click()
    expect(await saved.sandbox("GET", "/shops")).toHaveLength(1)
    // Another opens a shop meanwhile, and its till calls: the page lists it, and the question counts it.
    const { shop, key } = await saved.sandbox("POST", "/shops", { ...LIKE, name: "Meanwhile" })
    await fetch(`${saved.base}/v1/shop`, { headers: { authorization: `Bearer ${key}` } })
    const names = () => page.getByLabel("Shop", { exact: true }).locator("option").allInnerTexts()
    await expect.poll(names).toContain("Meanwhile")
    await saved.sandbox("PATCH", `/shops/${shop.id}`, { active: false })
    await page.getByLabel("Shop", { exact: true }).focus()
    await page.locator("optgroup[label=Closed] option", { hasText: "Meanwhile" }).waitFor({ state: "attached" })
    await saved.sandbox("POST", "/shops", { ...LIKE, name: "Unseen" })
    const asked: Array<string> = []
    page.on("dialog", (question) => {
      asked.push(question.message())
      return question.accept()
    })
    await session()
    await page.getByRole("button", { name: "Begin anew" }).click()
    await expect.poll(() => asked).toEqual([expect.stringContaining(": 3 shops with all tickets.")])
    await kept.waitFor({ state: "detached" })
    await session()
    await page.getByLabel("Open a file…").setInputFiles(file)
    await kept.waitFor()
    await region(page, "Live").getByRole("button", { name: "ticket.created 0001" }).waitFor()
    await session()
    const other = { ...JSON.parse(readFileSync(file, "utf8")), version: 99 }
    const buffer = Buffer.from(JSON.stringify(other))
    await page.getByLabel("Open a file…").setInputFiles({ name: "other.json", mimeType: "application/json", buffer })
    await page.getByText(/400 VALIDATION_ERROR/).waitFor()
    await page
      .getByText(/version/)
      .first()
      .waitFor()
    // Another file is refused before anything is asked.
    asked.length = 0
    await session()
    const list = { name: "list.json", mimeType: "application/json", buffer: Buffer.from("[1]") }
    await page.getByLabel("Open a file…").setInputFiles(list)
    await page.getByText("list.json is no session").waitFor()
    expect(asked).toEqual([])
    await page.context().close()
    await saved.close()
  })

  it("reads /docs on a phone in the dark: API, webhooks and sandbox; the key stays with the tab", async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme: "dark" })
    const page = await context.newPage()
    const elsewhere: Array<string> = []
    const complaints: Array<string> = []
    page.on("request", (request) => {
      if (!request.url().startsWith(sandbox.base) && !request.url().startsWith("data:")) elsewhere.push(request.url())
    })
    page.on("console", (message) => complaints.push(message.text()))
    page.on("pageerror", (error) => complaints.push(String(error)))
    // A part of each document is drawn in a second, the whole in ten.
    await page.route(/openapi\.json$/, async (route) => {
      const { paths, webhooks = {}, ...rest } = await (await route.fetch()).json()
      const kept = (parts: object, names: RegExp) =>
        Object.fromEntries(Object.entries(parts).filter(([name]) => names.test(name)))
      const drawn = { paths: kept(paths, /\/(shop|clock|tickets)$/), webhooks: kept(webhooks, /^ticket\.ready$/) }
      await route.fulfill({ json: { ...rest, ...drawn } })
    })
    await page.goto(`${sandbox.base}/docs`)
    await page.getByText("No API key applied").waitFor()
    // The list of calls opens on a phone too, is filtered, and leads to a call.
    await page.getByRole("button", { name: "Calls" }).click()
    await page.getByPlaceholder("Filter").fill("shop behind")
    await page.locator(".nav-bar-path", { hasText: "Read the shop behind the key" }).click()
    await page.locator(".nav-bar").waitFor({ state: "hidden" })
    for (const part of ["#api-info", "#api-title"])
      expect((await page.locator(part).boundingBox())!.x).toBeGreaterThanOrEqual(16)
    await page.getByText("The ticket is ready").first().waitFor({ state: "attached" })
    // Every button that sends a request is within the screen.
    const ends = await page
      .getByRole("button", { name: "TRY" })
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right))
    expect(ends.length).toBeGreaterThan(2)
    expect(Math.max(...ends)).toBeLessThanOrEqual(390)
    await page.getByPlaceholder("api-token").first().fill(sandbox.key)
    await page.getByRole("button", { name: "SET" }).first().click()
    await page.getByRole("button", { name: "TRY" }).first().click()
    await page.getByText("Atelier Lac").first().waitFor()
    await page.reload()
    await page.getByText("API key applied").first().waitFor()
    expect(await page.getByText("No API key applied").count()).toBe(0)
    await page.getByRole("button", { name: "Sandbox" }).click()
    await page.getByText("Read the clock").first().waitFor({ state: "attached" })
    // This sandbox asks for no token, so neither does its document.
    expect(await page.getByText("No API key applied").count()).toBe(0)
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390)
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(20, 24, 30)")
    expect([elsewhere, complaints]).toEqual([[], []])
    await context.close()
  })

  it("asks for the sandbox's token once, and streams with it", async () => {
    const guarded = await ConsoleSandbox.open(TOKEN)
    const { page } = await guarded.page(browser)
    const open = page.getByRole("button", { name: "Open the console" })
    await open.waitFor()
    await page.keyboard.type("mistyped")
    await page.keyboard.press("Enter")
    await page.getByText("The sandbox refused this token.").waitFor()
    await page.getByLabel("Token").fill(TOKEN)
    await open.click()
    await page.getByText("live, with token").waitFor()
    await page.reload()
    await page.getByText("live, with token").waitFor()
    // The reader of the API knows the token of the console, and asks for it in another tab.
    for (const tab of [page, await page.context().newPage()]) {
      await tab.route(/\/openapi\.json$/, async (route) => {
        const response = await route.fetch()
        if (!response.ok()) return route.fulfill({ response })
        const { components, ...rest } = await response.json()
        const drawn = { paths: {}, webhooks: {}, components: { securitySchemes: components.securitySchemes } }
        return route.fulfill({ json: { ...rest, ...drawn } })
      })
      await tab.goto(`${guarded.base}/docs`)
      await tab.getByRole("button", { name: "Sandbox" }).click()
      const field = tab.getByLabel("The sandbox asks for the token")
      if (tab !== page) {
        await field.fill(TOKEN)
        await tab.keyboard.press("Enter")
      }
      await tab.getByText("1 API key applied").waitFor()
      expect(await field.isVisible()).toBe(false)
    }
    await page.context().close()
    await guarded.close()
  })
})
