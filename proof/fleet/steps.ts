import { Clients, DeliveryHistory, Keys, QuoteInput, Quotes, ReplayInput, Webhooks } from "@workshop/core"
import { Schema } from "effect"
import { type Fleet, receiverBehaviours } from "./Fleet.js"
import type { Owners } from "./Owners.js"
import { CLOCK_JUMPS, type Step } from "./Script.js"
import { HOUR, MINUTE, START } from "./Simulation.js"
import type { Tills } from "./Tills.js"

/** The function of each step of a script. */
export const stepsOf = (
  fleet: Fleet,
  tills: Tills,
  owners: Owners
): Record<Step["does"], (picks: ReadonlyArray<number>) => void> => ({
  create: ([a = 0, b = 0, c = 0, d = 0]) => {
    const shop = fleet.shop(a)
    const client = fleet.client(c)
    const body = {
      service: "Hem",
      external_ref: fleet.fresh("order"),
      price_minor: 1000 + d,
      ...(b % 3 === 0 ? { client_id: client.id } : {}),
      ...(b % 3 === 1 ? { client_phone: client.phone } : {})
    }
    const open = { shop, key: tills.keyOf(shop, d), path: "/v1/tickets", body, idempotency_key: fleet.fresh("key") }
    tills.insist(open, (status, response) => {
      if (status < 300) shop.tickets.push({ id: response.data.id })
    })
    // An impatient till sends the request twice at the same time.
    if (d % 10 === 0) tills.send({ ...open, method: "POST" })
  },
  status: ([a = 0, b = 0, c = 0, d = 0, e = 0]) => {
    const shop = fleet.shop(a)
    const ticket = fleet.ticket(shop, b)
    if (ticket === undefined) return
    const status = ["ready", "ready", "collected", "workshop", "impossible"][c % 5]
    const path = `/v1/tickets/${ticket.id}/status`
    if (d % 2 === 0)
      tills.insist({ shop, key: tills.keyOf(shop, e), path, body: { status }, idempotency_key: fleet.fresh("key") })
    else tills.send({ shop, key: tills.keyOf(shop, e), method: "POST", path, body: { status } })
  },
  notified: ([a = 0, b = 0, c = 0, d = 0]) => {
    const shop = fleet.shop(a)
    const ticket = fleet.ticket(shop, b)
    if (ticket === undefined) return
    const body = { channel: ["sms", "call", "whatsapp"][c % 3] }
    tills.insist({
      shop,
      key: tills.keyOf(shop, d),
      path: `/v1/tickets/${ticket.id}/notified`,
      body,
      idempotency_key: fleet.fresh("key")
    })
  },
  quote: ([a = 0, b = 0, c = 0]) => {
    const shop = fleet.shop(a)
    const ticket = fleet.ticket(shop, b)
    if (ticket === undefined) return
    const input = QuoteInput.make({ price_minor: 5000 + c })
    owners.act(
      shop,
      "quote",
      { ticket: ticket.id },
      Quotes.propose({ shop_id: shop.id } as never, ticket.id as never, input)
    )
  },
  answerQuote: ([a = 0, b = 0, c = 0]) => {
    const shop = fleet.shop(a)
    const ticket = fleet.ticket(shop, b)
    if (ticket === undefined) return
    const response = c % 2 === 0 ? "accepted" : "refused"
    owners.act(
      shop,
      `quote ${response}`,
      { ticket: ticket.id },
      Quotes.recordAnswer({ shop_id: shop.id } as never, ticket.id as never, response)
    )
  },
  sync: ([a = 0, , c = 0]) => tills.follow(fleet.shop(a), c),
  readTicket: ([a = 0, b = 0, c = 0]) => {
    const shop = fleet.shop(a)
    const ticket = fleet.ticket(shop, b)
    if (ticket !== undefined)
      tills.send({ shop, key: tills.keyOf(shop, c), method: "GET", path: `/v1/tickets/${ticket.id}` })
  },
  listTickets: ([a = 0, , c = 0]) => {
    const shop = fleet.shop(a)
    tills.send({ shop, key: tills.keyOf(shop, c), method: "GET", path: "/v1/tickets", query: "limit=5" })
  },
  stamps: ([a = 0, b = 0, c = 0, d = 0]) => {
    const shop = fleet.shop(a)
    const path = `/v1/clients/${fleet.client(b).id}/loyalty/stamps`
    tills.insist({
      shop,
      key: tills.keyOf(shop, d),
      path,
      body: { count: 1 + (c % 5) },
      idempotency_key: fleet.fresh("key")
    })
  },
  redeem: ([a = 0, b = 0, c = 0]) => {
    const shop = fleet.shop(a)
    const path = `/v1/clients/${fleet.client(b).id}/loyalty/redeem`
    tills.insist({ shop, key: tills.keyOf(shop, c), path, body: undefined, idempotency_key: fleet.fresh("key") })
  },
  findClient: ([a = 0, b = 0, c = 0]) => {
    const shop = fleet.shop(a)
    const query = `phone=${encodeURIComponent(fleet.client(b).phone)}`
    tills.send({ shop, key: tills.keyOf(shop, c), method: "GET", path: "/v1/clients", query })
  },
  rotate: ([a = 0]) => {
    const shop = fleet.shop(a)
    owners.act(shop, "rotate", {}, Webhooks.rotate(shop.id as never))
  },
  turnOff: ([a = 0]) => {
    const shop = fleet.shop(a)
    owners.act(shop, "turn off", {}, Webhooks.disable(shop.id as never))
  },
  turnOn: ([a = 0]) => owners.turnOn(fleet.shop(a)),
  otherAddress: ([a = 0]) => {
    const shop = fleet.shop(a)
    owners.setAddress(shop)
  },
  replay: ([a = 0, b = 0, c = 0]) => {
    const shop = fleet.shop(a)
    const state = (["pending", "delivered", "dead", undefined] as const)[b % 4]
    const since =
      c % 2 === 0 ? new Date(START + Math.max(0, fleet.simulation.now - 2 * MINUTE)).toISOString() : undefined
    const input = Schema.decodeUnknownSync(ReplayInput)({ ...(state && { state }), ...(since && { since }) })
    owners.act(shop, "replay", {}, DeliveryHistory.replay(shop.id as never, input))
  },
  revoke: ([a = 0, b = 0]) => {
    const shop = fleet.shop(a)
    const good = shop.keys.filter(({ isRevoked }) => !isRevoked)
    const key = good[b % good.length]!
    if (good.length < 2) return owners.makeKey(shop)
    key.isRevoked = true
    // All nodes get requests with the key during its revocation, a second later, and after the minute.
    for (const ms of [0, 3, 1500, 61_500, 62_500]) fleet.simulation.later(ms, () => tills.useEverywhere(shop, key))
    owners.act(shop, "revoke", { key: key.id }, Keys.revoke(key.id as never), () => owners.makeKey(shop), 20)
  },
  switchApi: ([a = 0]) => {
    const shop = fleet.shop(a)
    shop.isApiOn = !shop.isApiOn
    owners.patch(shop, { api_enabled: shop.isApiOn })
  },
  programme: ([a = 0]) => {
    const shop = fleet.shop(a)
    shop.isProgramOn = !shop.isProgramOn
    owners.patch(shop, { program: { active: shop.isProgramOn } })
  },
  ping: ([a = 0]) => {
    const shop = fleet.shop(a)
    owners.act(shop, "ping", {}, Webhooks.ping(shop.id as never))
  },
  acceptOffer: ([a = 0, b = 0]) => owners.answerOffer("accept", a, b),
  block: ([a = 0, b = 0]) => owners.answerOffer("block", a, b),
  visit: ([a = 0, b = 0]) => {
    const [shop, client] = [fleet.shop(a), fleet.client(b)]
    owners.act(shop, "visit", { client: client.id }, Clients.visit(client.id as never, shop.id as never))
  },
  receiver: ([a = 0, b = 0]) => {
    fleet.shop(a).behaviour = receiverBehaviours[b % 10 < 4 ? 0 : b % receiverBehaviours.length]!
  },
  storeUnavailable: ([a = 0, b = 0]) => {
    const node = fleet.node(a)
    const ms = 200 + (b % 6000)
    node.faults.isStoreUnavailable = true
    fleet.fault(node, "store unavailable", ms, () => {
      node.faults.isStoreUnavailable = false
    })
  },
  storeFlaky: ([a = 0, b = 0, c = 0]) => {
    const node = fleet.node(a)
    const ms = 1000 + (b % 8000)
    node.faults.failing = c % 3 === 0 ? 0.2 : 0.05
    node.faults.lostAnswers = c % 3 === 1 ? 0.25 : 0.05
    fleet.fault(node, "store flaky", ms, () => {
      node.faults.failing = 0
      node.faults.lostAnswers = 0
    })
  },
  cellUnavailable: ([a = 0, b = 0, c = 0]) => {
    const { cells } = fleet
    if (cells.length === 0) return
    const cell = cells[a % cells.length]!
    const [one, ms] = [fleet.node(b), 500 + (c % 7000)]
    // The cell is unavailable to one node, or to all, as when its database is down.
    for (const node of b % 2 === 0 ? fleet.up() : [one]) {
      node.faults.unavailableCells.add(cell)
      fleet.fault(node, `store of the cell ${cell} unavailable`, ms, () => node.faults.unavailableCells.delete(cell))
    }
  },
  stopNode: ([a = 0, b = 0]) => {
    const node = fleet.node(a)
    if (node.machine.isStopped || fleet.up().filter(({ machine }) => !machine.isStopped).length < 2) return
    // Sometimes the node is suspended for longer than a lease.
    const ms = b % 3 === 0 ? 15_500 + (b % 8000) : 100 + (b % 4000)
    node.machine.isStopped = true
    fleet.fault(node, "stopped", ms, () => node.machine.goOn())
  },
  killNode: ([a = 0, b = 0, c = 0]) => {
    if (fleet.up().length < 2) return
    const node = fleet.node(a)
    node.machine.die()
    fleet.fault(node, "killed", 100 + (b % 5000), () => fleet.startNode((c % 3000) - 1500))
  },
  clock: ([a = 0, b = 0, c = 0]) => {
    const node = fleet.node(a)
    if (c % 3 > 0) {
      // Real clocks differ a little, and step when they are corrected.
      node.machine.clock_off_ms = (b % 3000) - 1500
      return
    }
    // All clocks are ahead by hours, and are corrected later.
    if (fleet.simulation.ahead_ms > 0) return
    fleet.simulation.ahead_ms = (1 + (b % 3)) * HOUR
    fleet.fault(node, "all clocks ahead", 300 + (b % 3000), () => {
      fleet.simulation.ahead_ms = 0
    })
    if (a % 2 === 0) for (const other of fleet.up()) fleet.dropNotifications(other, 100_000)
  },
  deaf: ([a = 0, b = 0]) =>
    fleet.dropNotifications(fleet.node(a), b % 3 === 0 ? 65_000 + (b % 90_000) : 1000 + (b % 20_000)),
  notifierFails: ([a = 0, b = 0]) => {
    const node = fleet.node(a)
    node.faults.failingNotifiers = 0.6
    fleet.simulation.later(500 + (b % 9000), () => {
      node.faults.failingNotifiers = 0
    })
  },
  leap: ([a = 0]) => fleet.sleep(CLOCK_JUMPS[a % 20 === 0 ? 6 : a % 4]!)
})
