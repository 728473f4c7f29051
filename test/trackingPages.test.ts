import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type PromiseWorkshop, start } from "@workshop/core/promise"
import { SettableClock } from "@workshop/core/testing"
import { mountNode } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import axe from "axe-core"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { chromiumPath, NO_CHROMIUM } from "../scripts/chromium.mjs"
import { trackedTickets } from "../scripts/trackedTickets.mjs"
import { openBrowser } from "./browser.js"

/** The rules that axe found violated, each with the elements that violate it. */
type Findings = ReadonlyArray<{
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>
}>

const executablePath = chromiumPath()
if (executablePath === undefined) console.warn(`The clients' pages are not tested in a real browser: ${NO_CHROMIUM}.`)

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

/** A tab of the browser, with the requests of its page and the messages and errors of the browser. */
interface Tab {
  readonly page: Page
  readonly requests: Array<string>
  readonly complaints: Array<string>
}

describe.skipIf(executablePath === undefined)("the clients' pages in Chromium", { timeout: 120_000 }, () => {
  const clock = new SettableClock(Date.parse("2026-11-20T08:30:00.000Z"))
  let workshop: PromiseWorkshop
  let server: Server
  let browser: Browser
  let codes: Readonly<Record<string, string>>
  beforeAll(async () => {
    workshop = await start({ store: MemoryStore.layer, clock, background: false })
    codes = await trackedTickets(workshop as never, clock)
    server = createServer(mountNode(workshop, { trackingPages: {} }))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    browser = await openBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    server?.closeAllConnections()
    server?.close()
    await workshop?.stop()
  })

  /** The tabs by language. Tests share them, because opening a tab takes longer than loading a page. */
  const tabs = new Map<string, Tab>()
  const tabIn = async (language: string): Promise<Tab> => {
    const tab = tabs.get(language) ?? {
      page: await browser.newPage({ locale: language }),
      requests: [],
      complaints: []
    }
    if (!tabs.has(language)) {
      tab.page.on("request", (request) => tab.requests.push(request.url()))
      tab.page.on("console", (message) => tab.complaints.push(message.text()))
      tab.page.on("pageerror", (error) => tab.complaints.push(String(error)))
      tabs.set(language, tab)
    }
    return tab
  }

  /** Opens the page of a ticket in the tab of a language. */
  const opened = async (
    ticket: string,
    {
      language = "en",
      scheme = "light",
      width = 390
    }: { language?: string; scheme?: "light" | "dark"; width?: number } = {}
  ) => {
    const tab = await tabIn(language)
    await tab.page.setViewportSize({ width, height: 844 })
    await tab.page.emulateMedia({ colorScheme: scheme })
    tab.requests.length = 0
    tab.complaints.length = 0
    clock.advance(2_000)
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/t/${codes[ticket]}`
    await tab.page.goto(address)
    return { ...tab, address }
  }

  // The page with the most content is checked in every language and scheme. Of the others, only some combinations are
  // checked, which cover each scheme, direction and language.
  const looks = ["ready", "impossible", "collected", "order", "unknown"].flatMap((ticket, i) => [
    [ticket, "light", i % 2 === 0 ? "en" : "fr-TN"] as const,
    [ticket, "dark", "ar-TN"] as const
  ])
  const busiest = (["light", "dark"] as const).flatMap((scheme) =>
    ["en", "fr-TN", "ar-TN"].map((language) => ["delayed", scheme, language] as const)
  )
  it.each([...busiest, ...looks])(
    "the page of the ticket %s conforms to WCAG 2.2 AA in the %s scheme and the language %s",
    async (ticket, scheme, language) => {
      const { page } = await opened(ticket, { language, scheme })
      // Playwright evaluates the script outside the page's Content-Security-Policy.
      await page.evaluate(axe.source)
      const { violations, incomplete } = (await page.evaluate(
        `axe.run({ runOnly: { type: "tag", values: ${JSON.stringify(WCAG)} } })`
      )) as { readonly violations: Findings; readonly incomplete: Findings }
      const named = (
        found: ReadonlyArray<{ id: string; nodes: ReadonlyArray<{ html: string; failureSummary: string }> }>
      ) => found.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)])
      expect(named(violations)).toEqual([])
      expect(named(incomplete)).toEqual([])
    }
  )

  it.each([320, 390, 1280])("the pages fit on a screen %i pixels wide, without scrolling sideways", async (width) => {
    for (const ticket of ["delayed", "order", "unknown"]) {
      for (const language of ["fr", "ar"]) {
        const { page } = await opened(ticket, { width, language })
        const scrolled = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        expect([ticket, language, scrolled]).toEqual([ticket, language, 0])
      }
    }
  })

  it("the pages load nothing from other servers, and the browser reports no error", async () => {
    for (const ticket of ["delayed", "ready"]) {
      const { requests, complaints, address } = await opened(ticket)
      expect(requests.filter((url) => !url.startsWith("data:"))).toEqual([address])
      expect(complaints).toEqual([])
    }
  })

  it("the pages have the colour scheme of the reader's system, and their Content-Security-Policy allows their style", async () => {
    const colours = async (scheme: "light" | "dark") => {
      const { page } = await opened("ready", { scheme })
      const style = (property: string) => page.evaluate(`getComputedStyle(document.querySelector("main")).${property}`)
      const [text, ground] = [await style("color"), await style("backgroundColor")]
      return { text, ground }
    }
    expect(await colours("light")).toEqual({ text: "rgb(29, 27, 24)", ground: "rgb(255, 255, 255)" })
    expect(await colours("dark")).toEqual({ text: "rgb(243, 240, 234)", ground: "rgb(32, 30, 28)" })
  })

  it("the pages run from right to left in Arabic, with the marks of the steps on the right", async () => {
    const placed = async (language: string) => {
      const { page } = await opened("ready", { language })
      const [mark, name] = await Promise.all(
        [".steps svg", ".steps .name"].map((part) => page.locator(part).first().boundingBox())
      )
      return mark!.x < name!.x ? "left" : "right"
    }
    expect([await placed("en"), await placed("ar")]).toEqual(["left", "right"])
  })

  it("a screen reader gets the steps and the current state of the ticket without colours", async () => {
    const { page } = await opened("delayed")
    expect(await page.locator("main").ariaSnapshot()).toMatch(
      /heading "In the workshop" \[level=1\][\s\S]*heading "Progress" \[level=2\][\s\S]*Received : done[\s\S]*In the workshop : now[\s\S]*Ready : to come/
    )
    expect(await page.locator("[aria-current=step]").textContent()).toContain("In the workshop")
  })
})
