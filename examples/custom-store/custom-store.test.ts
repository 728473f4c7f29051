import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Workshop from "@workshop/core/promise"
import { runContract } from "@workshop/core/testing"
import { Effect, Layer } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import * as JournalStore from "./JournalStore.js"

const folder = mkdtempSync(join(tmpdir(), "journal-"))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const freshFile = () => join(folder, `${files++}.journal`)

// Each layer has its own journal.
runContract(
  { describe, it, afterAll },
  "The journal store",
  Layer.unwrapEffect(Effect.sync(() => JournalStore.layer(freshFile())))
)

describe("The journal of the example's store", () => {
  it("a new process restores everything from the journal, except a truncated last line", async () => {
    const path = freshFile()
    const first = await Workshop.start({ store: JournalStore.layer(path), background: false })
    const shop = await first.shops.create({ name: "Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
    if (!shop.ok) throw shop.refusal
    const caller_id = "0198c5f1-0d20-7000-8a4f-2be6c90d1357"
    const caller = { shop_id: shop.value.id, caller_id, scopes: [], via: "app" } as const
    await first.tickets.create(caller, { service: "Hem" }, "one")
    await first.stop()
    appendFileSync(path, '{"_tag":"Changes","shop_id":"')

    const second = await Workshop.start({ store: JournalStore.layer(path), background: false })
    expect(await second.tickets.create(caller, { service: "Hem" }, "one")).toMatchObject({
      ok: true,
      value: { replayed: true, data: { number: 1 } }
    })
    expect(await second.tickets.create(caller, { service: "Zip" }, "two")).toMatchObject({
      ok: true,
      value: { data: { number: 2 } }
    })
    await second.stop()

    const third = await Workshop.start({ store: JournalStore.layer(path), background: false })
    expect(await third.tickets.byNumber(caller, 2)).toMatchObject({ ok: true, value: { data: { service: "Zip" } } })
    await third.stop()
  })
})
