import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { escapeHtml } from "@workshop/core/internal"
import { Store } from "@workshop/core/store"
import * as MemoryStore from "@workshop/store-memory"
import { suite } from "@workshop/testers/conform"
import axe from "axe-core"
import { Effect, Layer } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runCommandLine } from "../packages/cli/test/runCommandLine.js"
import { bundle } from "../packages/console/scripts/bundle.mjs"
import { type CaseResult, htmlReport, reportOf } from "../packages/testers/src/conform/Report.js"
import { entryItem, pageText } from "../packages/testers/src/page/page.js"
import { SimulatedStore } from "../packages/testers/src/simulate/SimulatedStore.js"
import { changes } from "../packages/testers/test/conform/broken/BrokenServer.js"
import { chromiumPath, NO_CHROMIUM } from "../scripts/chromium.mjs"
import { openBrowser } from "./browser.js"
import { START } from "./consolePage.js"

const executablePath = chromiumPath()
if (executablePath === undefined) console.warn(`The reports are not tested in a real browser: ${NO_CHROMIUM}.`)

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

/** The HTML report of a conformance run with one case of each outcome. */
const conformReport = (): string => {
  const [one, two, three] = suite
  const exchange = {
    ...{ method: "POST", url: "http://127.0.0.1:4010/v1/tickets", headers: {}, body: '{"service":"Hem"}' },
    response: { status: 404, headers: { date: "today" }, body: '{"success":false}' }
  }
  const failure = { expected: "status 201", found: "status 404", exchange }
  const results: ReadonlyArray<CaseResult> = [
    { case: one!, outcome: "passed", duration_ms: 12 },
    { case: two!, outcome: "failed", duration_ms: 3, failure },
    { case: three!, outcome: "skipped", duration_ms: 0, because: "needs a sandbox" }
  ]
  return htmlReport(reportOf({ base_url: "http://127.0.0.1:4010", with: "sandbox", duration_ms: 1500 }, results, {}))
}

/** Writes a scenario that passes, and one whose second step of three fails. */
const writeScenarios = (folder: string): void => {
  mkdirSync(folder)
  const get = (status: number) => `  - get shop: {}\n    expect: ${status}\n`
  writeFileSync(join(folder, "good.yaml"), `name: A shop is read\nsteps:\n${get(200)}`)
  writeFileSync(join(folder, "bad.yaml"), `name: A shop is gone\nsteps:\n${get(200)}${get(404)}${get(200)}`)
}

/** Changes the store so that `ready_at` of a ticket is a second later than in its event, which is a violation. */
const { store: later = (same) => same } = changes((one) =>
  one._tag === "TicketPut" && one.row.state === "ready" && one.row.ready_at !== null
    ? { ...one, row: { ...one.row, ready_at: one.row.ready_at + 1000 } }
    : one
)
const brokenStore = MemoryStore.layer.pipe((whole) =>
  Layer.merge(whole, Layer.effect(Store, Effect.map(Store, later)).pipe(Layer.provide(whole)))
)

describe.skipIf(executablePath === undefined)("reports in Chromium", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "workshop-reports-"))
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    await bundle()
    browser = await openBrowser()
    page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true })
  })

  const opened = (file: string) => page.goto(`file://${join(folder, file)}`)

  it("an entry of a report can be found by filter and search, has its own address, and shows a ticket's timeline", async () => {
    const history = {
      ticket: { id: "t", number_label: "0001" },
      windows: [],
      entries: [
        { id: "s", at: "2026-11-20T10:00:00.000Z", kind: "state", title: "workshop", ok: true, detail: {} },
        { id: "v", at: "2026-11-20T11:00:00.000Z", kind: "notice", title: "loyalty", ok: false, detail: {} }
      ]
    }
    const story = { history, deliveries: [], now: START, zone: "Africa/Tunis" }
    const place = `<div data-story="${escapeHtml(JSON.stringify(story))}"></div>`
    const entries = [
      entryItem({ id: "hem", outcome: "passed", title: "A hem", command: "npx workshop", body: "<p>needle</p>" }),
      entryItem({ id: "zip", outcome: "failed", title: "A zip", body: place })
    ]
    const body = `<section><ul class="entries">${entries.join("")}</ul></section>`
    writeFileSync(join(folder, "viewer.html"), pageText({ title: "Report", isGood: false, style: "", body }))
    await opened("viewer.html#hem")
    const shown = () => page.locator(".entry:visible").evaluateAll((all) => all.map(({ id }) => id))
    expect(await page.getByText("needle").isVisible()).toBe(true)
    await page.locator("#zip .timeline svg .marker.notice").waitFor()
    await page.getByRole("button", { name: "failed 1" }).click()
    await expect.poll(shown).toEqual(["zip"])
    await page.getByRole("button", { name: "all 2" }).click()
    await page.keyboard.press("/")
    await page.keyboard.type("needle")
    await expect.poll(shown).toEqual(["hem"])
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390)
  })

  /**
   * The violations that axe finds with all entries unfolded, and the number of pixels by which the page is too wide.
   */
  const faults = async (scheme: "light" | "dark") => {
    await page.emulateMedia({ colorScheme: scheme })
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true')
    await page.evaluate(axe.source)
    const { violations } = (await page.evaluate(
      `axe.run({ runOnly: { type: "tag", values: ${JSON.stringify(WCAG)} } })`
    )) as {
      readonly violations: ReadonlyArray<{
        readonly id: string
        readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>
      }>
    }
    const wider = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    const problems = violations.map(({ id, nodes }) => [
      id,
      nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`)
    ])
    return {
      found: problems,
      wider,
      background: await page.evaluate("getComputedStyle(document.body).backgroundColor")
    }
  }

  const write: Readonly<Record<string, () => Promise<unknown>>> = {
    "conform --html": async () => writeFileSync(join(folder, "conform.html"), conformReport()),
    "scenario run --html": async () => {
      const scenarios = join(folder, "scenarios")
      writeScenarios(scenarios)
      return runCommandLine(["scenario", "run", scenarios, "--html", join(folder, "scenario.html")])
    },
    "simulate --html": async () =>
      runCommandLine(
        ["simulate", "--seed", "7", "--steps", "40", "--shops", "2", "--html", join(folder, "simulate.html")],
        {},
        (program) => Effect.provideService(program, SimulatedStore, () => brokenStore)
      )
  }

  it.each(Object.keys(write))("%s conforms to WCAG 2.2 AA on a phone, in light and dark", async (name) => {
    await write[name]!()
    await opened(`${name.split(" ")[0]}.html`)
    expect(await page.locator(".entry[data-outcome=failed]").count()).toBeGreaterThan(0)
    if (name.startsWith("simulate")) await page.locator(".timeline svg .marker.notice").first().waitFor()
    expect(await faults("light")).toEqual({ found: [], wider: 0, background: "rgb(255, 255, 255)" })
    expect(await faults("dark")).toEqual({ found: [], wider: 0, background: "rgb(20, 24, 30)" })
  })
})
