import { ClientInput, Clients, DeliveryHistory, ShopInput, Shops, Webhooks } from "@workshop/core"
import { Effect } from "effect"
import { Fleet, type KnownShop, receiverBehaviours } from "./Fleet.js"
import type { History, Json } from "./History.js"
import type { Services } from "./Node.js"
import { Owners } from "./Owners.js"
import type { Step } from "./Script.js"
import { HOUR, MINUTE, SECOND, type Simulation, START } from "./Simulation.js"
import { stepsOf } from "./steps.js"
import { Tills } from "./Tills.js"

/** Plays a script on a service of two or three nodes over one store, and records its behaviour as seen from outside. */
export class Player {
  readonly simulation: Simulation
  readonly #seed: number
  readonly #fleet: Fleet
  readonly #tills: Tills
  readonly #owners: Owners
  readonly #steps: ReturnType<typeof stepsOf>

  constructor(seed: number) {
    this.#seed = seed
    this.#fleet = new Fleet(seed)
    this.simulation = this.#fleet.simulation
    this.#tills = new Tills(this.#fleet)
    this.#owners = new Owners(this.#fleet)
    this.#steps = stepsOf(this.#fleet, this.#tills, this.#owners)
  }

  play(script: ReadonlyArray<Step>): History {
    const { simulation, history, nodes } = this.#fleet
    this.#open_()
    for (const { does, picks, then_ms } of script) {
      this.#steps[does](picks)
      // For longer times the machines sleep, because simulating every second would take too long.
      simulation.pass(Math.min(then_ms, SECOND))
      if (then_ms > SECOND) this.#fleet.sleep(then_ms - SECOND)
    }
    this.#heal()
    this.#finish()
    history.isOver = true
    for (const node of nodes) node.finish()
    simulation.pass(6 * SECOND)
    return history
  }

  #open_(): void {
    const { simulation } = this.#fleet
    for (const off_ms of this.#seed % 2 === 0 ? [0, 700, -900] : [0, -900]) this.#fleet.startNode(off_ms)
    simulation.pass(50)
    for (let index = 0; index < 2; index++) {
      const input = ShopInput.make({
        name: `Shop ${index}` as never,
        currency: "TND" as never,
        decimals: 3 as never,
        time_zone: "Africa/Tunis" as never
      })
      this.#owners.act(
        undefined,
        "open a shop",
        {},
        Effect.flatMap(Shops, (shops) => shops.create(input)),
        ({ id }) => {
          const since = new Date(START - HOUR).toISOString()
          const sync = { since, cursor: null, isBusy: false }
          this.#fleet.shops.push({
            index: this.#fleet.shops.length,
            id,
            cell: this.#fleet.cellOf(id),
            keys: [],
            tickets: [],
            behaviour: receiverBehaviours[0],
            url: "",
            isApiOn: true,
            isProgramOn: true,
            mirror: new Map(),
            sync
          })
        }
      )
      simulation.pass(100)
    }
    for (const shop of this.#fleet.shops) {
      this.#owners.makeKey(shop)
      this.#owners.makeKey(shop)
      this.#owners.setAddress(shop)
      this.#owners.patch(shop, {
        program: { active: true, name: "Stamps", stamps_required: 3, stamps_per_ticket: 1, reward_label: "A hem" }
      })
      simulation.pass(100)
    }
    for (let i = 0; i < 3; i++) {
      const phone = `+2162000000${i}`
      const input = ClientInput.make({
        given_name: "Amira" as never,
        family_name: "Ben" as never,
        phone: phone as never
      })
      this.#owners.act(
        undefined,
        "register",
        {},
        Effect.flatMap(Clients, (clients) => clients.register(input)),
        ({ id }) => this.#fleet.clients.push({ id, phone })
      )
      simulation.pass(50)
    }
    for (const [i, client] of this.#fleet.clients.entries()) {
      const shop = this.#fleet.shop(i)
      this.#owners.act(
        shop,
        "visit",
        { client: client.id },
        Effect.flatMap(Clients, (clients) => clients.visit(client.id as never, shop.id as never))
      )
    }
    simulation.pass(100)
  }

  #heal(): void {
    const { simulation, history } = this.#fleet
    // After these 27 seconds every fault has ended, and every receiver has responded.
    for (const shop of this.#fleet.shops) shop.behaviour = receiverBehaviours[0]
    simulation.pass(SECOND)
    this.#fleet.sleep(25 * SECOND)
    simulation.pass(SECOND)
    for (const { machine } of this.#fleet.nodes) machine.clock_off_ms = 0
    for (const shop of this.#fleet.shops) {
      // An earlier action may have taken effect after a later one, so `isApiOn` may be wrong and is set again.
      shop.isApiOn = true
      this.#owners.patch(shop, { api_enabled: true })
      this.#owners.turnOn(shop, 5)
      this.#owners.makeKey(shop)
    }
    history.healed_at = simulation.now
    simulation.pass(2 * SECOND)
    this.#fleet.sleep(61 * SECOND)
    for (const open of [...this.#tills.open.values()]) {
      const shop = open.shop
      const key = shop.keys.find(({ id }) => id === open.key.id)!
      // A request with a revoked key cannot be repeated.
      if (!key.isRevoked) this.#tills.insist(open)
      simulation.pass(20)
    }
  }

  #finish(): void {
    const { simulation, history } = this.#fleet
    simulation.pass(3 * SECOND)
    // Failed deliveries get their next attempts, of which a delivery may need seven.
    for (const ms of [
      61 * SECOND,
      6 * MINUTE,
      31 * MINUTE,
      121 * MINUTE,
      6 * HOUR,
      12 * HOUR + MINUTE,
      24 * HOUR + MINUTE
    ]) {
      this.#fleet.sleep(ms)
      // After a long sleep less time is needed, because all remaining attempts are due and the receivers are healthy.
      simulation.pass(ms < HOUR ? 1200 : 500)
    }
    for (const shop of this.#fleet.shops) {
      this.#owners.makeKey(shop)
      this.#tills.follow(shop, 0)
    }
    simulation.pass(3 * SECOND)
    history.shops = this.#fleet.shops.map((shop) => this.#endOf(shop))
    history.clients = this.#fleet.clients.map(({ id }) => id)
    history.ended_at = simulation.now
  }

  /** Sends a request after all faults have ended, and waits for the response. */
  #get(shop: KnownShop, path: string, query = ""): Json {
    let got: Json = null
    let status_ = 0
    const good = shop.keys.filter(({ isRevoked }) => !isRevoked)
    this.#tills.send({ shop, key: good.at(-1)!, method: "GET", path, query }, (status, response) => {
      got = response
      status_ = status ?? 0
    })
    this.#fleet.simulation.pass(40)
    return { status: status_, ...got }
  }

  #owner<A, E>(work: Effect.Effect<A, E, Services>): A {
    let got: A | undefined
    this.#owners.act(undefined, "look", {}, work, (result) => {
      got = result
    })
    this.#fleet.simulation.pass(40)
    return got as A
  }

  #endOf(shop: KnownShop) {
    const tickets: Array<Json> = []
    let cursor: string | null = null
    do {
      const page: Json = this.#get(
        shop,
        "/v1/tickets",
        new URLSearchParams({ limit: "100", ...(cursor === null ? {} : { cursor }) }).toString()
      )
      tickets.push(...(page.data ?? []))
      cursor = page.meta?.next_cursor ?? null
    } while (cursor !== null)
    const id = shop.id as never
    return {
      id: shop.id,
      tickets,
      mirror: [...shop.mirror.values()],
      events: this.#owner(
        Effect.flatMap(Webhooks, (webhooks) => webhooks.events(id, { limit: 10_000 }))
      ) as ReadonlyArray<Json>,
      deliveries: this.#owner(
        Effect.flatMap(DeliveryHistory, (history) => history.list(id, { limit: 10_000 }))
      ) as ReadonlyArray<Json>,
      notices: this.#owner(Effect.flatMap(DeliveryHistory, (history) => history.notices(id))) as ReadonlyArray<Json>,
      webhook: this.#owner(Effect.flatMap(Webhooks, (webhooks) => webhooks.status(id))) as Json,
      cards: this.#fleet.clients.map((client) => {
        const { status, data } = this.#get(shop, `/v1/clients/${client.id}/loyalty`)
        return { client: client.id, status, data: data ?? null }
      })
    }
  }
}
