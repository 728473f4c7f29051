import { gzipSync } from "node:zlib"
import { CachedRateLimits, Entropy } from "@workshop/core"
import { pipeline, webHandler } from "@workshop/core/http"
import { pages } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import axe from "axe-core"
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bundle } from "../packages/console/scripts/bundle.mjs"
import { ConsoleSandbox, describeInChromium, type Json, LIKE, region, START, side } from "./consolePage.js"

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

beforeAll(() => bundle(), 60_000)

describe("/console (Specification, Sandbox)", () => {
  let sandbox: ConsoleSandbox
  beforeAll(async () => {
    sandbox = await ConsoleSandbox.open()
  }, 60_000)
  afterAll(() => sandbox?.close())

  it("/console is a page under 200 kB whose parts the sandbox serves itself, and / redirects to it", async () => {
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

  it("/console accepts a trailing slash, and only the method GET", async () => {
    expect((await fetch(`${sandbox.base}/console/`)).url).toBe(`${sandbox.base}/console`)
    expect((await fetch(`${sandbox.base}/console`, { method: "POST" })).status).toBe(404)
    expect((await fetch(`${sandbox.base}/console/package.json`)).status).toBe(404)
  })

  it("a server without a sandbox responds 404 to /console", async () => {
    const runtime = ManagedRuntime.make(
      CachedRateLimits.layer.pipe(Layer.provideMerge(MemoryStore.layer), Layer.provideMerge(Entropy.layerSeeded(2)))
    )
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

describeInChromium("the console in Chromium", (on) => {
  it("the console shows a till's ticket at once, with its moves enabled or disabled, and the reason of a refused move", async () => {
    const { page, complaints } = await on.sandbox.page(on.browser)
    await page.getByText("live", { exact: true }).waitFor()
    const { number_label } = await on.sandbox.till("POST", "/tickets", { service: "Resoling", item: "Brown boots" })
    await page.getByRole("button", { name: `${number_label} Brown boots: resoling` }).click()
    const moves = region(page, "Actions on the ticket")
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
    // The service does not send events from before the webhook was set, and the panel says so.
    await page.getByRole("button", { name: "Use the built-in receiver" }).first().press("Enter")
    // The button disappears, and the focus stays in its panel.
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Ticket")
    const deliveries = region(page, "Deliveries")
    await deliveries.getByText("Its 2 events happened before the webhook was set").waitFor()
    await deliveries.getByRole("button", { name: "Send 2 events" }).click()
    await page.locator("output.said").getByText("2 events are being sent").waitFor()
    for (const event of ["ticket.created", "ticket.ready"]) {
      await on.sandbox.sandbox("POST", "/clock", { advance: "0ms" })
      await deliveries.locator(".delivery", { hasText: event }).getByText("✓ 200").waitFor()
    }
    await page.getByRole("button", { name: "Copy link" }).click()
    await page.locator("output.said").getByText("the address of this ticket").waitFor()
    expect(complaints.filter((text) => !text.includes("409"))).toEqual([])
    await page.context().close()
  })

  it("the console makes a retry happen by moving the clock to the next event, and releases parked events", async () => {
    const page = await on.sandbox.samePage(on.browser)
    await on.sandbox.sandbox("POST", "/clock", { freeze: true })
    await on.sandbox.sandbox("PUT", `/shops/${on.sandbox.shop}/receiver`, { use: true, answer: 500 })
    const ticket = await on.sandbox.till("POST", "/tickets", { service: "Hem", item: "Grey trousers" })
    await on.sandbox.sandbox("POST", "/clock", { advance: "0ms" })
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

  it("the console shows the webhook's secret until it is dismissed, and the result of a ping", async () => {
    const page = await on.sandbox.samePage(on.browser)
    const { shop } = await on.sandbox.sandbox("POST", "/shops", { ...LIKE, name: "Its own receiver" })
    await page.reload()
    await page.getByLabel("Shop", { exact: true }).selectOption(shop.id)
    await side(page, "Webhook")
    const address = page.getByLabel("Address of the webhook")
    await address.fill("localhost:3000/hook")
    await page.keyboard.press("Enter")
    await page.getByText(/Address of the webhook \(url\) must start with https:\/\/, or with http:\/\//).waitFor()
    await address.fill("http://127.0.0.1:9/hook")
    await page.keyboard.press("Enter")
    const secret = region(page, "The webhook’s secret")
    await secret.getByText(/whsec_/).waitFor()
    await page.getByRole("button", { name: "Send a ping" }).click()
    await page.locator("output.said").getByText("Ping to 127.0.0.1:9: ").waitFor()
    await secret.getByRole("button", { name: "Dismiss" }).click()
    await secret.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "New secret" }).click()
    await secret.getByText(/whsec_/).waitFor()
  })

  it("the console moves the clock to a millisecond before the next event, which has not happened, and then past it", async () => {
    const page = await on.sandbox.samePage(on.browser)
    await on.sandbox.sandbox("POST", "/clock", { freeze: true })
    await on.sandbox.till("POST", "/tickets", { service: "Left behind" })
    const closures = async (): Promise<Array<Json>> =>
      (await on.sandbox.sandbox("GET", `/agenda?shop=${on.sandbox.shop}`)).filter(
        ({ kind }: Json) => kind === "closure"
      )
    const [due] = await closures()
    for (const [name, beside] of [
      ["before", -1],
      ["after", 1]
    ] as const) {
      await page.getByRole("button", { name: "Agenda" }).click()
      await page.getByRole("button", { name: `1 ms ${name}: ${due.text}` }).click()
      const wanted = new Date(Date.parse(due.at) + beside).toISOString()
      await expect.poll(async () => (await on.sandbox.sandbox("GET", "/clock")).now).toBe(wanted)
      expect((await closures()).some(({ at, text }) => at === due.at && text === due.text)).toBe(beside < 0)
    }
  })

  it("the console loses the till's response, repeats the request, and creates one ticket", async () => {
    const page = await on.sandbox.samePage(on.browser)
    const count = async () => (await on.sandbox.sandbox("GET", `/shops/${on.sandbox.shop}/tickets?limit=1000`)).length
    const before = await count()
    await page.locator("body").press("n")
    await page.getByLabel("Service").fill("Zip")
    await page.getByLabel(/lose the response/).check()
    await page.getByRole("button", { name: "Create at the till" }).click()
    await page.getByText("The first response was lost. The repeated request got 200, replayed").waitFor()
    expect(await count()).toBe(before + 1)
    // The browser itself repeats a request that was cut off, so the console must not send a third one.
    const requests: Array<Json> = await on.sandbox.sandbox("GET", `/requests?shop=${on.sandbox.shop}`)
    expect(requests.slice(-2).map(({ fault, replayed }) => [fault, replayed])).toEqual([
      ["lose_answer", false],
      [null, true]
    ])
    await region(page, "Live")
      .getByRole("button", { name: /POST .*response lost/ })
      .click()
    await page.getByText("This response never arrived").waitFor()
    await region(page, "Live").getByText("fault applied: response lost").waitFor()
  })

  it("the console keeps a refused form open with its values, and marks the invalid field", async () => {
    const page = await on.sandbox.samePage(on.browser)
    const result = page.locator("output.said")
    await page.locator("body").press("n")
    await page.getByLabel("Service").fill("Coat")
    await page.getByLabel(/^Price/).fill("45 TND")
    await page.getByRole("button", { name: "Create at the till" }).click()
    await result.getByText('"45 TND" is not a price').waitFor()
    expect(await page.getByLabel(/^Price/).inputValue()).toBe("45 TND")
    await page.getByLabel(/^Price/).fill("45")
    await page.getByLabel("Phone", { exact: true }).fill("20 123 456")
    await page.keyboard.press("Enter")
    await result.getByText(/400 .*Phone \(client_phone\) must/).waitFor()
    for (const [text, why] of [
      ["tomorrow", /"tomorrow" is neither a length of time nor a date. Enter a length/],
      ["2020-01-01", /2020-01-01 is in the past/]
    ] as const) {
      await page.getByLabel(/Move the clock by a length of time/).fill(text)
      await page.keyboard.press("Enter")
      await result.getByText(why).waitFor()
    }
    const before = Date.parse((await on.sandbox.sandbox("GET", "/clock")).now)
    await page.getByLabel(/Move the clock by a length of time/).fill("2 minutes")
    await page.keyboard.press("Enter")
    await result.getByText("2 m later").waitFor()
    expect(Date.parse((await on.sandbox.sandbox("GET", "/clock")).now)).toBeGreaterThanOrEqual(before + 120_000)
    const { id } = await on.sandbox.till("POST", "/tickets", { service: "Buttons" })
    await page.locator(`[data-ticket="${id}"]`).click()
    await page.locator("[data-act=quote]").click()
    const price = page.getByRole("textbox", { name: "New price" })
    expect(await price.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true)
    await price.fill("abc")
    await page.keyboard.press("Enter")
    await result.getByText('"abc" is not a price').waitFor()
    expect(await price.inputValue()).toBe("abc")
  })

  it("the console draws the folded timeline within its panel, without overlapping texts, and dragging the line of the current time moves the clock forward", async () => {
    const page = await on.sandbox.samePage(on.browser)
    const { id } = await on.sandbox.till("POST", "/tickets", { service: "Sole" })
    for (const [length, status] of [
      ["1m", "ready"],
      ["7m", "collected"],
      ["20h", "workshop"],
      ["3s", "ready"],
      ["2s", "impossible"],
      ["40d", "collected"]
    ] as const) {
      await on.sandbox.sandbox("POST", "/clock", { advance: length })
      await on.sandbox.till("POST", `/tickets/${id}/status`, { status })
    }
    await page.locator(`[data-ticket="${id}"]`).click()
    await page.locator(".stay.collected").first().waitFor()
    const box = page.locator(".timeline-scroll")
    expect(await box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(1)
    const texts = await page
      .locator(".axis text, .why, .window text")
      .evaluateAll((all) => all.map((one) => ({ text: one.textContent, ...one.getBoundingClientRect().toJSON() })))
    const over = texts.flatMap((text: Json, i) =>
      texts
        .slice(i + 1)
        .filter(
          (other: Json) =>
            text.left < other.right &&
            other.left < text.right &&
            text.top + 3 < other.bottom &&
            other.top + 3 < text.bottom
        )
        .map((other: Json) => [text.text, other.text])
    )
    expect(over).toEqual([])
    // The line of the current time does not cross a text.
    const line = await page.locator(".present line").boundingBox()
    expect(texts.filter((text: Json) => text.left < line!.x && line!.x < text.right && text.top > line!.y)).toEqual([])
    // Dragging the line to the right moves the clock. Dragging it to the left does not.
    const now = async () => Date.parse((await on.sandbox.sandbox("GET", "/clock")).now)
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

  it("the console sets and removes faults, and exhausts a limit", async () => {
    const page = await on.sandbox.samePage(on.browser)
    await side(page, "API")
    const faults = region(page, "Faults of the API")
    await faults.getByRole("button", { name: "503" }).click()
    await faults.getByRole("button", { name: "Add the fault" }).click()
    await faults.getByText("POST /v1/tickets · 1 left").waitFor()
    expect(await on.sandbox.sandbox("GET", "/faults")).toMatchObject([{ fault: "503", method: "POST", next: 1 }])
    await faults.getByRole("button", { name: "Clear all faults" }).click()
    await faults.getByText("No faults are set.").waitFor()
    const gauge = page.locator(".gauge", { hasText: "tickets per hour" })
    await gauge.getByRole("button", { name: "Use up" }).click()
    await gauge.getByText("150 of 150").waitFor()
    await gauge.getByRole("button", { name: "Go to reset" }).click()
    await gauge.getByText("0 of 150").waitFor()
    const till = region(page, "Your till")
    await till.getByRole("button", { name: "Show" }).click()
    expect(await till.textContent()).toMatch(/wk_test_[\w-]{20,}/)
  })

  it("a new ticket, its statuses, the clock and the help of the console work with the keyboard alone", async () => {
    const page = await on.sandbox.samePage(on.browser)
    await page.getByText("live", { exact: true }).waitFor()
    await page.keyboard.press("n")
    await page.keyboard.type("Patch")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: /Patch/ }).waitFor()
    await page.locator("body").press("r")
    await region(page, "Ticket").locator(".pill.ready").waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("no such ticket")
    await page.getByText("No ticket matches the search.").waitFor()
    await page.keyboard.press("Escape")
    await page.locator("button.ticket", { hasText: "Patch" }).waitFor()
    expect(await page.getByRole("searchbox").inputValue()).toBe("")
    await page.locator("body").press("g")
    await page.keyboard.press("w")
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Webhook")
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).waitFor()
    await page.keyboard.press("Escape")
    const before = Date.parse((await on.sandbox.sandbox("GET", "/clock")).now)
    await page.keyboard.press("+")
    await expect.poll(async () => Date.parse((await on.sandbox.sandbox("GET", "/clock")).now)).toBe(before + 3_600_000)
    await page.locator(".grip").focus()
    await page.keyboard.press("ArrowRight")
    await expect.poll(async () => Date.parse((await on.sandbox.sandbox("GET", "/clock")).now)).toBe(before + 3_660_000)
    await page.locator("body").press("f")
    await region(page, "Live").waitFor({ state: "detached" })
    await side(page, "Live")
    await region(page, "Live").getByText("clock runs").first().waitFor()
    await page.locator("body").press("f")
    await region(page, "Live").getByText("clock frozen").first().waitFor()
    // The board's columns are next to each other, and a selected ticket still has its panel.
    await page.getByRole("button", { name: "board" }).click()
    const columns = await page
      .locator(".board section")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left))
    expect(new Set(columns).size).toBe(5)
    await page.locator(".board .ticket").first().click()
    await region(page, "Ticket").locator(".grip").focus()
    const [due] = await on.sandbox.sandbox("GET", `/agenda?shop=${on.sandbox.shop}`)
    await page.keyboard.press("End")
    await expect
      .poll(async () => Date.parse((await on.sandbox.sandbox("GET", "/clock")).now))
      .toBeGreaterThan(Math.min(Date.parse(due.at), before + 3_660_000))
  })

  it.each([
    ["light", 1440],
    ["dark", 390]
  ] as const)("the console conforms to WCAG 2.2 AA in its %s scheme, %i pixels wide", async (colorScheme, width) => {
    const page = await on.sandbox.samePage(on.browser)
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 844 })
    await page.reload()
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
        // From the second tab on, only the panel is checked, because the rest of the page is the same.
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
    await page.emulateMedia({ colorScheme: "light" })
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  it("the console draws only the visible part of a hundred tickets and 5,000 rows", async () => {
    const many = await ConsoleSandbox.open()
    const { page } = await many.page(on.browser)
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
})
