import { expectSame, expectShape, expectThat } from "../Broken.js"
import { casesOf } from "../Case.js"
import { DAY, later, NOBODY } from "../World.js"

/** The sandbox itself (Specification, Sandbox). */
export const sandboxCases = casesOf("sandbox", [
  {
    id: "sandbox-clock-stands",
    rule: "A frozen clock moves by exactly what it is told, and by nothing else.",
    anchor: "rule-sandbox-clock-all",
    run: async (world) => {
      const start = await world.instant()
      expectSame(await world.instant(), start, "the clock when read again")
      await world.advance(1234)
      expectSame(await world.instant(), later(start, 1234), "the clock after 1234 ms")
      ;(await world.sandbox("GET", "/clock")).shows({ frozen: true })
    }
  },
  {
    id: "sandbox-clock-set",
    rule: "The clock can be set to an instant, and moved on from there in the same call.",
    anchor: "rule-sandbox-clock-all",
    run: async (world) => {
      const target = later(await world.instant(), 5000)
      const moved = await world.act("POST", "/clock", { set: target, advance_ms: 10, freeze: true })
      expectSame(moved, { now: later(target, 10), frozen: true }, "the clock")
    }
  },
  {
    id: "sandbox-clock-never-back",
    rule: "It never goes back, and a move that is refused moves nothing.",
    anchor: "rule-sandbox-clock-all",
    run: async (world) => {
      const now = await world.instant()
      ;(await world.sandbox("POST", "/clock", { set: later(now, -1) })).invalid("body set")
      ;(await world.sandbox("POST", "/clock", { advance_ms: -1 })).invalid("body advance_ms")
      expectSame(await world.instant(), now, "the clock")
    }
  },
  {
    id: "sandbox-clock-serves-all",
    rule: "What happens bears the instant of the sandbox clock.",
    anchor: "rule-sandbox-clock-all",
    run: async (world) => {
      const shop = await world.shop()
      await world.advance(3 * DAY)
      const now = await world.instant()
      ;(await shop.create()).shows({ created_at: now, updated_at: now }, 201)
    }
  },
  {
    id: "sandbox-shop",
    rule: "A new shop is approved, active, has the API on, and its key may do everything.",
    anchor: "rule-sandbox-shop",
    run: async (world) => {
      const shop = await world.shop()
      const settings = { id: shop.id, approved: true, active: true, api_enabled: true }
      expectShape(await world.act("PATCH", `/shops/${shop.id}`, {}), settings, "the shop")
      ;(await shop.get("/shop")).ok()
    }
  },
  {
    id: "sandbox-unknown-field",
    rule: "A field that the sandbox does not know is refused by its name.",
    anchor: "rule-create-unknown-field",
    run: async (world) => {
      ;(await world.sandbox("POST", "/clock", { advance: 1 })).invalid("body advance")
    }
  },
  {
    id: "sandbox-nobody",
    rule: "Shops, keys, clients and tickets that are not there are a 404.",
    anchor: "rule-sandbox-nobody",
    run: async (world) => {
      const calls = [
        ["GET", `/shops/${NOBODY}/events`],
        ["PATCH", `/shops/${NOBODY}`],
        ["DELETE", `/keys/${NOBODY}`],
        ["GET", `/clients/${NOBODY}/offers`],
        ["GET", "/nothing-here"]
      ] as const
      for (const [method, path] of calls) {
        const body = method === "PATCH" ? {} : undefined
        ;(await world.sandbox(method, path, body)).refused(404, "NOT_FOUND")
      }
      ;(await world.sandbox("POST", `/tickets/${NOBODY}/quote`, { price_minor: 1 })).refused(404, "NOT_FOUND")
    }
  },
  {
    id: "sandbox-no-webhook",
    rule: "A shop without a webhook has none: no address, nothing sent.",
    anchor: "rule-sandbox-no-webhook",
    run: async (world) => {
      const shop = await world.shop()
      const answer = await world.sandbox<{ url: string | null }>("GET", `/shops/${shop.id}/webhook`)
      const isNone = answer.status === 404 || (answer.status === 200 && answer.data.url === null)
      expectThat(isNone, "status 404, or url null", answer.status, answer.exchange)
      const inbox = world.inbox()
      await shop.sendTo(inbox)
      const fresh = { url: inbox.url, on: true, off_reason: null, failures_in_row: 0, first_failure_at: null }
      expectShape(await shop.webhook(), fresh, "the webhook")
    }
  },
  {
    id: "sandbox-visit",
    rule: "A visit to the counter makes a client known to that shop.",
    anchor: "rule-sandbox-visit",
    run: async (world) => {
      const shop = await world.shop()
      const client = await world.person()
      ;(await shop.get(`/clients/${client.id}`)).refused(404, "NOT_FOUND")
      await world.act("POST", `/clients/${client.id}/visits`, { shop_id: shop.id })
      ;(await shop.get(`/clients/${client.id}`)).shows({ id: client.id })
    }
  },
  {
    id: "sandbox-app-ticket",
    rule: "A ticket made in the app needs no Idempotency-Key.",
    anchor: "rule-sandbox-app-ticket",
    run: async (world) => {
      const shop = await world.shop()
      const answer = await shop.app({ service: "Hem", item: "Coat" })
      answer.shows({ number: 1, item: "Coat", created_via: "app", state: "workshop" }, 201)
      ;(await shop.app({ service: "" })).invalid("body service")
    }
  }
])
