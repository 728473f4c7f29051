import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runScenario } from "@workshop/testers/scenario"
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { ConsoleSandbox, DroppingProxy, describeInChromium, LIKE, region, side } from "./consolePage.js"

describeInChromium("the console's recordings and sessions, in Chromium", (on) => {
  it("the console records clicks and a till's requests as a scenario that passes, and reports what it cannot record", async () => {
    const page = await on.sandbox.samePage(on.browser)
    const old = await on.sandbox.till("POST", "/tickets", { service: "Older" })
    await on.sandbox.sandbox("PUT", `/shops/${on.sandbox.shop}/receiver`, { use: true })
    await side(page, "Record")
    const record = region(page, "Recording")
    await record.getByLabel(/in a new shop/).uncheck()
    await record.getByRole("button", { name: "● Start recording" }).click()
    await record.getByText("● 0 actions").waitFor()
    const made = {
      service: "Resoling",
      item: 'Brown boots: "old" #1',
      price_minor: 45_000,
      client_phone: "+21620999888"
    }
    const { id } = await on.sandbox.till("POST", "/tickets", made, "till-same")
    await record.getByText("● 1 action", { exact: true }).waitFor()
    // A reload loses no entry, not even of the request that the till sends meanwhile.
    const [loaded] = await Promise.all([page.reload(), on.sandbox.till("POST", "/tickets", made, "till-same")])
    expect(loaded?.status()).toBe(200)
    await page.getByText("The recording continues.").waitFor()
    await on.sandbox.till("GET", `/tickets/${id}`)
    await on.sandbox.till("POST", `/tickets/${id}/notified`, { channel: "sms" })
    await on.sandbox.till("POST", `/tickets/${old.id}/status`, { status: "ready" })
    await on.sandbox.till("POST", "/tickets", { service: "" })
    await record.getByText("● 6 actions").waitFor()
    await page.locator(`[data-ticket="${id}"]`).click()
    const moves = region(page, "Actions on the ticket")
    await moves.getByRole("button", { name: /Collected/ }).click()
    await record.getByText("● 7 actions").waitFor()
    await moves.getByRole("button", { name: "Lose the next response" }).click()
    await moves.locator("[data-act='status:ready']").click()
    await record.getByText("● 10 actions").waitFor()
    await moves.getByRole("button", { name: /Delay/ }).click()
    await moves.getByRole("button", { name: "Delay", exact: true }).click()
    await record.getByText("● 11 actions").waitFor()
    await moves.locator("[data-act='quote']").click()
    await moves.getByRole("textbox", { name: "New price" }).fill("50")
    await moves.getByRole("button", { name: "New price", exact: true }).click()
    await moves.locator("[data-act=accept].lit").click()
    await record.getByText("● 13 actions").waitFor()
    await page.getByRole("button", { name: "+24 h" }).click()
    await record.getByText("● 14 actions").waitFor()
    await record.getByRole("button", { name: "Expect what was received" }).click()
    await record.getByText("● 15 actions").waitFor()
    await page
      .locator("output.said")
      .getByText(/^✓ The last step now expects the received events \(\d+\)\.$/)
      .waitFor()
    // The steps offer no expected fields for a lost response.
    const lost = record.locator(".steps-recorded > li", { hasText: "expect: lost" })
    expect([await lost.count(), await lost.getByText("expect a field…").count()]).toEqual([1, 0])
    await record.getByText("expect a field…").last().click()
    await record.getByRole("button", { name: "money.price_minor: 50000" }).click()
    await record.getByRole("button", { name: "■ Stop recording" }).click()
    await record.getByText("1 action is not in the file. The reason is below.").waitFor()
    await record.getByText(/status cannot be recorded: ticket \d+ was created before the recording began/).waitFor()
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
    // The file has neither a fixed instant nor a fixed phone number, so it also passes a second time.
    expect(text).toMatch(/steps:\n {2}- set clock: "\d\d:\d\d:\d\d\.\d{3}"\n/)
    expect(text).not.toMatch(/^ {4}.*phone: "/m)
  })

  it("after the stream breaks, the console shows the events that it missed, and two consoles show the same", async () => {
    const proxy = await DroppingProxy.open(on.sandbox.base)
    const { page } = await on.sandbox.page(on.browser, {}, proxy.base)
    const other = await on.sandbox.page(on.browser)
    await page.getByText("live", { exact: true }).waitFor()
    const rows = async () => Number(await page.locator(".area-live > header > .dim").textContent())
    const before = await rows()
    proxy.drop()
    await page.getByRole("alert").getByText("The server does not respond.").waitFor()
    expect(await page.locator(".clock-bar").getAttribute("inert")).not.toBeNull()
    const { number_label } = await on.sandbox.till("POST", "/tickets", { service: "Missed" })
    // While the server does not respond, every part of the page that needs it says so.
    await page.locator("body").press("j")
    await page.getByRole("heading", { name: "The server does not respond" }).waitFor()
    expect(await page.getByRole("button", { name: "Show me a retry" }).isDisabled()).toBe(true)
    await page.locator("body").press("n")
    await page.getByLabel("Service").fill("Unheard")
    await page.keyboard.press("Enter")
    const silent = page.locator("output.said").getByText("The server does not respond, so nothing was done.")
    await silent.waitFor()
    proxy.restore(on.sandbox.base)
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
    await page.getByText("● 0 actions").waitFor()
    expect(await page.locator("select option:checked").first().textContent()).toBe("recording 1 of Atelier Lac")
    // Calls of a till that continues with the earlier shop's key are not recorded, and the page shows which key to use.
    const key = region(page, "Recording").locator("p", { hasText: "Give your till this shop’s key: " })
    const shopOf = (text: string) => fetch(`${proxy.base}/v1/shop`, { headers: { authorization: `Bearer ${text}` } })
    expect((await shopOf(on.sandbox.key)).status).toBe(200)
    await key.getByText("Your till used the key of Atelier Lac, so its request was not recorded.").waitFor()
    expect(await page.getByText("● 0 actions").isVisible()).toBe(true)
    expect((await shopOf((await key.locator("code").textContent()) ?? "")).status).toBe(200)
    await page.getByText("● 1 action", { exact: true }).waitFor()
    await key.waitFor({ state: "detached" })
    // A restarted server has other data, and numbers its events from 1 again. The recording ends, because its shop is
    // gone.
    const restarted = await ConsoleSandbox.open(null, 6)
    await restarted.till("POST", "/tickets", { service: "New" })
    await side(page, "Live")
    proxy.drop()
    proxy.restore(restarted.base)
    await page.getByText("The server was restarted with new data, and the earlier data are gone.").waitFor()
    await page.getByText("Your till needs another key, which is in the tab API.").waitFor()
    await page.getByText("The recording ended, because the server was restarted.").waitFor()
    expect(await page.getByRole("button", { name: "■ Stop recording" }).count()).toBe(0)
    expect(await page.getByRole("button", { name: "Save", exact: true }).isVisible()).toBe(true)
    await side(page, "Live")
    await region(page, "Live").getByRole("button", { name: "ticket.created 0001" }).waitFor()
    await page.context().close()
    await other.page.context().close()
    proxy.close()
    await restarted.close()
  })

  /**
   * Records in one console. Another console says why the clock is frozen, and asks before it moves or unfreezes the
   * clock.
   */
  const recordedBeside = async (page: Page, other: Page) => {
    await side(page, "Record")
    await page.getByRole("button", { name: "● Start recording" }).click()
    await page.getByText("● 0 actions").waitFor()
    await other.locator(".face").getByText("by a recording").waitFor()
    await side(other, "Record")
    await other.getByText("The clock is frozen by a recording, in another console or in one that was closed.").waitFor()
    // Playwright dismisses a dialog by default.
    await other.locator("body").press("f")
    expect((await on.sandbox.sandbox("GET", "/clock")).frozen).toBe(true)
    const hours = async () => (Date.parse((await on.sandbox.sandbox("GET", "/clock")).now) - before) / 3_600_000
    const before = Date.parse((await on.sandbox.sandbox("GET", "/clock")).now)
    const hourLater = other.getByRole("button", { name: "+1 h", exact: true })
    await hourLater.click()
    expect(await hours()).toBe(0)
    // The console asks before the first move, and not again before the second.
    const questions: Array<string> = []
    other.on("dialog", (question) => {
      questions.push(question.message())
      return question.accept()
    })
    for (const later of [1, 2]) {
      await hourLater.click()
      await expect.poll(hours).toBe(later)
    }
    expect(questions).toEqual([
      "The clock is frozen by a recording, and each move would become a step of it. Move the clock?"
    ])
    await other.getByRole("button", { name: "Unfreeze the clock" }).click()
    await page.getByText("The clock was unfrozen elsewhere").waitFor()
    await page.getByRole("button", { name: "■ Stop recording" }).click()
    // The shop of a finished recording can be closed.
    const names = () => page.getByLabel("Shop", { exact: true }).locator("option").allInnerTexts()
    expect(await names()).toContain("recording 1 of Atelier Lac")
    await page.getByRole("button", { name: "New shop" }).click()
    await page.getByRole("button", { name: "Close the shop of this recording" }).click()
    await expect.poll(names).not.toContain("recording 1 of Atelier Lac")
    await page.getByLabel("Shop", { exact: true }).selectOption("Atelier Lac")
  }

  it("the console saves the sandbox as a file, resets it, and opens the file again, and refuses a file of another version", async () => {
    const saved = await ConsoleSandbox.open()
    const { page } = await saved.page(on.browser)
    await saved.till("POST", "/tickets", { service: "Kept" })
    const kept = page.getByRole("button", { name: "0001 Kept" })
    await kept.waitFor()
    const session = () => page.getByRole("button", { name: "Session" }).click()
    await session()
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as a file" }).click()
    ])
    const file = join(mkdtempSync(join(tmpdir(), "workshop-session-")), "session.json")
    await download.saveAs(file)
    await session()
    // Playwright dismisses a dialog by default.
    await page.getByRole("button", { name: "Reset the sandbox" }).click()
    expect(await saved.sandbox("GET", "/shops")).toHaveLength(1)
    // A shop that another program opens meanwhile appears in the list, and the dialog of the reset counts it.
    const { shop, key } = await saved.sandbox("POST", "/shops", { ...LIKE, name: "Meanwhile" })
    await fetch(`${saved.base}/v1/shop`, { headers: { authorization: `Bearer ${key}` } })
    const names = () => page.getByLabel("Shop", { exact: true }).locator("option").allInnerTexts()
    await expect.poll(names).toContain("Meanwhile")
    await saved.sandbox("PATCH", `/shops/${shop.id}`, { active: false })
    await page.getByLabel("Shop", { exact: true }).focus()
    await page.locator("optgroup[label=Closed] option", { hasText: "Meanwhile" }).waitFor({ state: "attached" })
    await saved.sandbox("POST", "/shops", { ...LIKE, name: "Unseen" })
    const questions: Array<string> = []
    page.on("dialog", (question) => {
      questions.push(question.message())
      return question.accept()
    })
    await session()
    await page.getByRole("button", { name: "Reset the sandbox" }).click()
    await expect.poll(() => questions).toEqual([expect.stringContaining(": 3 shops with all tickets.")])
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
    // A file that is not a session is refused without a dialog.
    questions.length = 0
    await session()
    const list = { name: "list.json", mimeType: "application/json", buffer: Buffer.from("[1]") }
    await page.getByLabel("Open a file…").setInputFiles(list)
    await page.getByText("list.json is not a session").waitFor()
    expect(questions).toEqual([])
    await page.context().close()
    await saved.close()
  })
})
