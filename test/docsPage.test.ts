import { expect, it } from "vitest"
import { ConsoleSandbox, describeInChromium } from "./consolePage.js"

const TOKEN = "a-token-of-more-than-32-characters"

describeInChromium("/docs and the sandbox's token in Chromium", (on) => {
  it("/docs shows API, webhooks and sandbox on a phone in dark mode, and stores the key only for the tab", async () => {
    const context = await on.browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme: "dark" })
    const page = await context.newPage()
    const elsewhere: Array<string> = []
    const complaints: Array<string> = []
    page.on("request", (request) => {
      if (!request.url().startsWith(on.sandbox.base) && !request.url().startsWith("data:"))
        elsewhere.push(request.url())
    })
    page.on("console", (message) => complaints.push(message.text()))
    page.on("pageerror", (error) => complaints.push(String(error)))
    // The browser gets only a part of each document, which it draws in one second instead of ten.
    await page.route(/openapi\.json$/, async (route) => {
      const { paths, webhooks = {}, ...rest } = await (await route.fetch()).json()
      const selected = (parts: object, names: RegExp) =>
        Object.fromEntries(Object.entries(parts).filter(([name]) => names.test(name)))
      const drawn = {
        paths: selected(paths, /\/(shop|clock|tickets)$/),
        webhooks: selected(webhooks, /^ticket\.ready$/)
      }
      await route.fulfill({ json: { ...rest, ...drawn } })
    })
    await page.goto(`${on.sandbox.base}/docs`)
    await page.getByText("No API key applied").waitFor()
    // On a phone too, the list of calls opens, can be filtered, and links to a call.
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
    await page.getByPlaceholder("api-token").first().fill(on.sandbox.key)
    await page.getByRole("button", { name: "SET" }).first().click()
    await page.getByRole("button", { name: "TRY" }).first().click()
    await page.getByText("Atelier Lac").first().waitFor()
    await page.reload()
    await page.getByText("API key applied").first().waitFor()
    expect(await page.getByText("No API key applied").count()).toBe(0)
    await page.getByRole("button", { name: "Sandbox" }).click()
    await page.getByText("Read the clock").first().waitFor({ state: "attached" })
    // The document requires no token, because this sandbox has none.
    expect(await page.getByText("No API key applied").count()).toBe(0)
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390)
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(20, 24, 30)")
    expect([elsewhere, complaints]).toEqual([[], []])
    await context.close()
  })

  it("the console and /docs ask for the sandbox's token once per tab, and the console receives its stream with the token", async () => {
    const guarded = await ConsoleSandbox.open(TOKEN)
    const { page } = await guarded.page(on.browser)
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
    // In the same tab /docs uses the console's token, and in another tab it asks for the token.
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
