import { type PromiseOptions, start } from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { expect, it } from "vitest"
import { SettableClock } from "../../src/testing/SettableClock.js"

const NAME = "workshop_notification_attempts_total"
const DAY = 86_400_000

/** Starts a workshop. `counted` returns the attempts by outcome since its last call, without zeros. */
const begun = async (options: Partial<PromiseOptions>) => {
  const clock = new SettableClock()
  const workshop = await start({ store: MemoryStore.layer, background: false, clock, logger: () => {}, ...options })
  const { shops, tickets, notificationSender } = workshop.orThrow
  const { id } = await shops.create({ name: "Needle", currency: "EUR", time_zone: "Europe/Paris" })
  const caller = { shop_id: id, caller_id: "amira", scopes: [], via: "app" } as const
  const counts = async () => {
    const text = await workshop.metrics()
    const samples = text.matchAll(new RegExp(`^${NAME}\\{outcome="(\\w+)"\\} (\\d+)`, "gm"))
    return Object.fromEntries<number>([...samples].map(([, outcome, count]) => [String(outcome), Number(count)]))
  }
  let before = await counts()
  const outcomes = Object.keys(before).sort()
  const counted = async () => {
    const now = await counts()
    const grown = Object.entries(now).map(([outcome, count]) => [outcome, count - (before[outcome] ?? 0)] as const)
    before = now
    return Object.fromEntries(grown.filter(([, count]) => count > 0))
  }
  /** Makes a ticket with a walk-in customer's number ready. */
  const ready = async () => {
    const { data } = await tickets.createInApp(caller, { service: "Hem", client_phone: "+33612345678" })
    await tickets.changeStatus(caller, data.id, "ready")
    return data.id
  }
  const runOnce = notificationSender.runOnce
  const reopen = (ticket: string) => tickets.changeStatus(caller, ticket, "workshop")
  return { workshop, clock, ready, reopen, runOnce, counted, outcomes }
}

it("attempts to notify are counted as sent, failed, given up, and outdated; before the first one each is 0", async () => {
  let isAway = false
  const notifyClient = async () => {
    if (isAway) throw new Error("The gateway is away")
  }
  const { workshop, clock, ready, reopen, runOnce, counted, outcomes } = await begun({ notifyClient })
  expect(outcomes).toEqual(["discarded", "failed", "given_up", "outdated", "sent", "superseded"])
  await ready()
  await runOnce()
  expect(await counted()).toEqual({ sent: 1 })

  isAway = true
  await ready()
  for (let attempt = 1; attempt <= 8; attempt++) {
    await runOnce()
    clock.advance(DAY)
  }
  expect(await counted()).toEqual({ failed: 7, given_up: 1 })

  const ticket = await ready()
  await reopen(ticket)
  await runOnce()
  expect(await counted()).toEqual({ outdated: 1 })
  await workshop.stop()
})

it("a notification that no process sends for three days is counted as discarded", async () => {
  const { workshop, clock, ready, runOnce, counted } = await begun({})
  await ready()
  await runOnce()
  expect(await counted()).toEqual({})
  clock.advance(3 * DAY)
  await runOnce()
  expect(await counted()).toEqual({ discarded: 1 })
  await workshop.stop()
})
