import {
  ClientInput,
  Clients,
  DeliveryHistory,
  Entropy,
  KeyInput,
  Keys,
  Offers,
  QuoteInput,
  Quotes,
  ReplayInput,
  type Sent,
  ShopInput,
  ShopPatch,
  Shops,
  type StorePorts,
  scopePresets,
  Webhooks
} from "@workshop/core"
import { bodyText } from "@workshop/core/http"
import { Memory, over } from "@workshop/store-memory"
import { type Context, Effect, Exit, Layer, Schema, type Types } from "effect"
import { History, type Json } from "./History.js"
import { Node, type Services, type Surroundings } from "./Node.js"
import { LEAPS, type Step } from "./Script.js"
import { START, World } from "./World.js"

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** How a receiver behaves: what it answers, and after how many milliseconds. */
const moods = [
  { name: "well", answers: [200, 200, 204], least: 1, most: 60 },
  { name: "flaky", answers: [200, 500, null, 503], least: 1, most: 60 },
  { name: "failing", answers: [500, 503, null], least: 1, most: 60 },
  { name: "slow", answers: [200], least: 2000, most: 9500 },
  { name: "silent", answers: [200], least: 11_000, most: 60_000 },
  { name: "gone", answers: [410], least: 1, most: 300 },
  { name: "gone slowly", answers: [410], least: 1500, most: 4000 }
] as const

const CLIENT_WAITS_MS = 6 * SECOND
const ANSWER_MS = 10 * SECOND

interface KnownKey {
  readonly id: string
  readonly text: string
  isRevoked: boolean
}

interface KnownTicket {
  readonly id: string
}

interface KnownShop {
  readonly no: number
  readonly id: string
  keys: Array<KnownKey>
  readonly tickets: Array<KnownTicket>
  mood: (typeof moods)[number]
  url: string
  isApiOn: boolean
  isProgramOn: boolean
  readonly mirror: Map<string, Json>
  sync: { since: string; cursor: string | null; isBusy: boolean }
}

/** A request that has to be answered in the end: it is made again with the same key until it is. */
interface Open {
  readonly shop: KnownShop
  readonly key: KnownKey
  readonly path: string
  readonly body: Json
  readonly once: string
}

interface Request {
  readonly shop: KnownShop
  readonly key: KnownKey
  readonly method: string
  readonly path: string
  readonly query?: string
  readonly body?: Json
  readonly once?: string
}

const sentOf = (status: number | null): Sent => ({
  status,
  error: status === null ? "reset" : null,
  detail: null,
  address: null,
  timings: { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 0 },
  head: ""
})

/** Plays a script on a service of three nodes over one store, and writes down what is seen from outside. */
export class Player {
  readonly history = new History()
  readonly world: World
  readonly #nodes: Array<Node> = []
  readonly #around: Surroundings
  readonly #shops: Array<KnownShop> = []
  readonly #clients: Array<{ readonly id: string; readonly phone: string }> = []
  readonly #open = new Map<string, Open>()
  readonly #seed: number
  #named = 0
  #started = 0

  constructor(seed: number) {
    this.#seed = seed
    this.world = new World(seed ^ 0x5eed)
    const store = Effect.runSync(
      Effect.scoped(Layer.build(over(new Memory()).pipe(Layer.provide(Entropy.layerSeeded(seed)))))
    ) as Context.Context<StorePorts>
    const { world, history } = this
    this.#around = { world, history, store, nodes: this.#nodes, receive: (...post) => this.#receive(...post) }
  }

  play(script: ReadonlyArray<Step>): History {
    this.#open_()
    for (const { does, picks, then_ms } of script) {
      this.#steps[does](picks)
      // What is longer the machines sleep through, for the most part.
      this.world.pass(Math.min(then_ms, SECOND))
      if (then_ms > SECOND) this.#sleep(then_ms - SECOND)
    }
    this.#heal()
    this.#finish()
    this.history.isOver = true
    for (const node of this.#nodes) node.bury()
    this.world.pass(6 * SECOND)
    return this.history
  }

  // Nodes

  #startNode(off_ms: number): Node {
    this.#started++
    const node = new Node(`node ${this.#started}`, this.#around)
    node.machine.clock_off_ms = off_ms
    node.start(this.#seed * 100 + this.#started)
    return node
  }

  #up(): ReadonlyArray<Node> {
    return this.#nodes.filter(({ isUp }) => isUp)
  }

  #node(pick: number): Node {
    const up = this.#up()
    return up[pick % up.length]!
  }

  // Receivers

  #receive(...[node, post, answer]: Parameters<Surroundings["receive"]>): Effect.Effect<void> {
    const { world, history } = this
    const { draws } = world
    const shop = this.#shops.find(({ id }) => id === post.shop_id)!
    const started_at = world.now
    const arrive = (isDouble: boolean) => {
      const { answers, least, most } = shop.mood
      const takes = draws.between(least, most)
      const isLate = world.now + takes - started_at >= ANSWER_MS
      const status = isLate ? null : draws.oneOf<number | null>(answers)
      const reception = {
        kind: "reception" as const,
        at: world.now,
        started_at,
        node: node.machine.name,
        url: post.url,
        shop: post.shop_id,
        signature: post.headers["Service-Signature"] ?? null,
        body: post.body,
        status: isDouble ? null : status,
        ended_at: null as number | null,
        isDouble
      }
      history.receptions.push(reception)
      if (isDouble) return
      const wait = isLate ? started_at + ANSWER_MS - world.now : takes
      world.later(
        wait,
        () => {
          reception.ended_at = world.now
          answer(sentOf(status))
        },
        node.machine
      )
    }
    world.later(draws.between(1, 20), () => {
      arrive(false)
      if (draws.chance(0.03)) world.later(draws.between(1, 50), () => arrive(true))
    })
    return Effect.void
  }

  // Requests

  /** Sends a request to a node. `onAnswer` gets null where no answer came. */
  #send(
    request: Request,
    onAnswer: (status: number | null, answer: Json) => void = () => {},
    node: Node = this.world.draws.oneOf(this.#up())
  ): void {
    const { world, history } = this
    const { draws } = world
    const { shop, key, method, path, query = "", body, once } = request
    const at = world.now
    const troubles = node.troubles
    let isOver = false
    const over_ = (status: number | null, headers: Readonly<Record<string, string>>, answer: Json) => {
      if (isOver) return
      isOver = true
      const common = { kind: "exchange" as const, at, ended_at: world.now, node: node.machine.name }
      const asked = { shop: shop.no, key: key.id, method, path, query, once: once ?? null, body: body ?? null }
      const isTroubled = node.troubles > troubles || status === null
      history.exchanges.push({ ...common, ...asked, status, headers, answer, isTroubled })
      onAnswer(status, answer)
    }
    const headers: Readonly<Record<string, string | undefined>> = {
      authorization: `Bearer ${key.text}`,
      "idempotency-key": once,
      "content-type": body === undefined ? undefined : "application/json"
    }
    const bytes = new TextEncoder().encode(body === undefined ? "" : JSON.stringify(body))
    world.later(
      draws.between(0, 4),
      () => {
        const cancel = node.ask(
          {
            method,
            path,
            query,
            header: (name) => headers[name],
            repeats: () => false,
            address: "192.0.2.7",
            body: () => Effect.succeed(bytes)
          },
          (response) => {
            const text = bodyText(response)
            const lower = Object.fromEntries(
              Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value])
            )
            world.later(draws.between(0, 4), () => over_(response.status, lower, JSON.parse(text)))
          }
        )
        // The client goes away, which the node may notice and stop working, or not.
        world.later(CLIENT_WAITS_MS, () => {
          if (!isOver && draws.chance(0.5) && !node.machine.isDead) cancel()
        })
      },
      node.machine
    )
    world.later(CLIENT_WAITS_MS, () => over_(null, {}, null))
  }

  /** Sends a request with a key, again and again until it is answered by a node that could. */
  #insist(open: Open, onAnswer: (status: number, answer: Json) => void = () => {}): void {
    this.#open.set(open.once, open)
    const send = (left: number) =>
      this.#send({ ...open, method: "POST" }, (status, answer) => {
        if (status !== null && status !== 503 && status !== 429 && status !== 401 && status !== 403) {
          this.#open.delete(open.once)
          onAnswer(status, answer)
        } else if (left > 0) this.world.later(this.world.draws.between(50, 1500), () => send(left - 1))
      })
    send(3)
  }

  #keyOf(shop: KnownShop, pick: number): KnownKey {
    const good = shop.keys.filter(({ isRevoked }) => !isRevoked)
    // Now and then one that was revoked, to see whether it still opens anything.
    return pick % 8 === 0 ? shop.keys[pick % shop.keys.length]! : good[pick % good.length]!
  }

  #fresh(prefix: string): string {
    return `${prefix}-${++this.#named}`
  }

  // Acts of owners and clients

  #act<A, E>(
    shop: KnownShop | undefined,
    act: string,
    about: Json,
    work: Effect.Effect<A, E, Services>,
    onDone: (answer: Types.NoInfer<A>) => void = () => {},
    tries = 0
  ): void {
    const { world, history } = this
    const node = world.draws.oneOf(this.#up())
    const at = world.now
    let isOver = false
    const over_ = (outcome: "done" | "refused" | "unknown", answer: Json) => {
      if (isOver) return
      isOver = true
      history.acts.push({
        kind: "act",
        at,
        ended_at: world.now,
        node: node.machine.name,
        shop: shop?.no ?? -1,
        act,
        about,
        outcome,
        answer
      })
      if (outcome === "done") onDone(answer)
      else if (outcome === "unknown" && tries > 0) this.#act(shop, act, about, work, onDone, tries - 1)
    }
    world.later(
      0,
      () =>
        node.act(work, (exit) => {
          if (Exit.isSuccess(exit)) return over_("done", exit.value)
          const failure: Json = exit.cause._tag === "Fail" ? exit.cause.error : exit.cause
          over_(failure._tag === "StoreUnavailable" || exit.cause._tag !== "Fail" ? "unknown" : "refused", failure)
        }),
      node.machine
    )
    world.later(CLIENT_WAITS_MS, () => over_("unknown", null))
  }

  // What the script's steps do

  readonly #shop = (pick: number) => this.#shops[pick % this.#shops.length]!
  readonly #ticket = (shop: KnownShop, pick: number) =>
    shop.tickets.length === 0
      ? undefined
      : shop.tickets[
          pick % 3 === 0
            ? pick % shop.tickets.length
            : shop.tickets.length - 1 - (pick % Math.min(3, shop.tickets.length))
        ]
  readonly #client = (pick: number) => this.#clients[pick % this.#clients.length]!

  /** Notes a fault that begins now; it ends when `end` has been done, after a while. */
  #fault(node: Node, what: string, ms: number, end: () => void): void {
    const { world, history } = this
    const fault = {
      kind: "fault" as const,
      at: world.now,
      until: Number.POSITIVE_INFINITY,
      node: node.machine.name,
      what
    }
    history.note(fault)
    world.later(ms, () => {
      fault.until = world.now
      end()
    })
  }

  /** All machines sleep for a while, as when their host does. */
  #sleep(ms: number): void {
    const { world, history } = this
    const fault = { kind: "fault" as const, at: world.now, until: world.now + ms, node: "all", what: "asleep" }
    if (ms > 4 * SECOND) history.note(fault)
    world.leap(ms)
  }

  readonly #steps: Record<Step["does"], (picks: ReadonlyArray<number>) => void> = {
    create: ([a = 0, b = 0, c = 0, d = 0]) => {
      const shop = this.#shop(a)
      const client = this.#client(c)
      const body = {
        service: "Hem",
        external_ref: this.#fresh("order"),
        price_minor: 1000 + d,
        ...(b % 3 === 0 ? { client_id: client.id } : {}),
        ...(b % 3 === 1 ? { client_phone: client.phone } : {})
      }
      const open = { shop, key: this.#keyOf(shop, d), path: "/v1/tickets", body, once: this.#fresh("once") }
      this.#insist(open, (status, answer) => {
        if (status < 300) shop.tickets.push({ id: answer.data.id })
      })
      // Twice at once, as an impatient till does.
      if (d % 10 === 0) this.#send({ ...open, method: "POST" })
    },
    status: ([a = 0, b = 0, c = 0, d = 0, e = 0]) => {
      const shop = this.#shop(a)
      const ticket = this.#ticket(shop, b)
      if (ticket === undefined) return
      const status = ["ready", "ready", "collected", "workshop", "impossible"][c % 5]
      const path = `/v1/tickets/${ticket.id}/status`
      if (d % 2 === 0)
        this.#insist({ shop, key: this.#keyOf(shop, e), path, body: { status }, once: this.#fresh("once") })
      else this.#send({ shop, key: this.#keyOf(shop, e), method: "POST", path, body: { status } })
    },
    notified: ([a = 0, b = 0, c = 0, d = 0]) => {
      const shop = this.#shop(a)
      const ticket = this.#ticket(shop, b)
      if (ticket === undefined) return
      const body = { channel: ["sms", "call", "whatsapp"][c % 3] }
      this.#insist({
        shop,
        key: this.#keyOf(shop, d),
        path: `/v1/tickets/${ticket.id}/notified`,
        body,
        once: this.#fresh("once")
      })
    },
    quote: ([a = 0, b = 0, c = 0]) => {
      const shop = this.#shop(a)
      const ticket = this.#ticket(shop, b)
      if (ticket === undefined) return
      const input = QuoteInput.make({ price_minor: 5000 + c })
      this.#act(
        shop,
        "quote",
        { ticket: ticket.id },
        Effect.flatMap(Quotes, (quotes) => quotes.propose({ shop_id: shop.id } as never, ticket.id as never, input))
      )
    },
    answerQuote: ([a = 0, b = 0, c = 0]) => {
      const shop = this.#shop(a)
      const ticket = this.#ticket(shop, b)
      if (ticket === undefined) return
      const answer = c % 2 === 0 ? "accepted" : "refused"
      this.#act(
        shop,
        `quote ${answer}`,
        { ticket: ticket.id },
        Effect.flatMap(Quotes, (quotes) =>
          quotes.recordAnswer({ shop_id: shop.id } as never, ticket.id as never, answer)
        )
      )
    },
    sync: ([a = 0, , c = 0]) => this.#follow(this.#shop(a), c),
    readTicket: ([a = 0, b = 0, c = 0]) => {
      const shop = this.#shop(a)
      const ticket = this.#ticket(shop, b)
      if (ticket !== undefined)
        this.#send({ shop, key: this.#keyOf(shop, c), method: "GET", path: `/v1/tickets/${ticket.id}` })
    },
    listTickets: ([a = 0, , c = 0]) => {
      const shop = this.#shop(a)
      this.#send({ shop, key: this.#keyOf(shop, c), method: "GET", path: "/v1/tickets", query: "limit=5" })
    },
    stamps: ([a = 0, b = 0, c = 0, d = 0]) => {
      const shop = this.#shop(a)
      const path = `/v1/clients/${this.#client(b).id}/loyalty/stamps`
      this.#insist({ shop, key: this.#keyOf(shop, d), path, body: { count: 1 + (c % 5) }, once: this.#fresh("once") })
    },
    redeem: ([a = 0, b = 0, c = 0]) => {
      const shop = this.#shop(a)
      const path = `/v1/clients/${this.#client(b).id}/loyalty/redeem`
      this.#insist({ shop, key: this.#keyOf(shop, c), path, body: undefined, once: this.#fresh("once") })
    },
    findClient: ([a = 0, b = 0, c = 0]) => {
      const shop = this.#shop(a)
      const query = `phone=${encodeURIComponent(this.#client(b).phone)}`
      this.#send({ shop, key: this.#keyOf(shop, c), method: "GET", path: "/v1/clients", query })
    },
    rotate: ([a = 0]) => {
      const shop = this.#shop(a)
      this.#act(
        shop,
        "rotate",
        {},
        Effect.flatMap(Webhooks, (webhooks) => webhooks.rotate(shop.id as never))
      )
    },
    turnOff: ([a = 0]) => {
      const shop = this.#shop(a)
      this.#act(
        shop,
        "turn off",
        {},
        Effect.flatMap(Webhooks, (webhooks) => webhooks.disable(shop.id as never))
      )
    },
    turnOn: ([a = 0]) => this.#turnOn(this.#shop(a)),
    otherAddress: ([a = 0]) => {
      const shop = this.#shop(a)
      this.#setAddress(shop)
    },
    replay: ([a = 0, b = 0, c = 0]) => {
      const shop = this.#shop(a)
      const state = (["pending", "delivered", "dead", undefined] as const)[b % 4]
      const since = c % 2 === 0 ? new Date(START + Math.max(0, this.world.now - 2 * MINUTE)).toISOString() : undefined
      const input = Schema.decodeUnknownSync(ReplayInput)({ ...(state && { state }), ...(since && { since }) })
      this.#act(
        shop,
        "replay",
        {},
        Effect.flatMap(DeliveryHistory, (history) => history.replay(shop.id as never, input))
      )
    },
    revoke: ([a = 0, b = 0]) => {
      const shop = this.#shop(a)
      const good = shop.keys.filter(({ isRevoked }) => !isRevoked)
      const key = good[b % good.length]!
      if (good.length < 2) return this.#makeKey(shop)
      key.isRevoked = true
      // It is used everywhere in the meantime, a second later, and when the minute is over.
      for (const ms of [0, 3, 1500, 61_500, 62_500]) this.world.later(ms, () => this.#useEverywhere(shop, key))
      this.#act(
        shop,
        "revoke",
        { key: key.id },
        Effect.flatMap(Keys, (keys) => keys.revoke(key.id as never)),
        () => this.#makeKey(shop),
        20
      )
    },
    switchApi: ([a = 0]) => {
      const shop = this.#shop(a)
      shop.isApiOn = !shop.isApiOn
      this.#patch(shop, { api_enabled: shop.isApiOn })
    },
    programme: ([a = 0]) => {
      const shop = this.#shop(a)
      shop.isProgramOn = !shop.isProgramOn
      this.#patch(shop, { program: { active: shop.isProgramOn } })
    },
    ping: ([a = 0]) => {
      const shop = this.#shop(a)
      this.#act(
        shop,
        "ping",
        {},
        Effect.flatMap(Webhooks, (webhooks) => webhooks.ping(shop.id as never))
      )
    },
    acceptOffer: ([a = 0, b = 0]) => this.#answerOffer("accept", a, b),
    block: ([a = 0, b = 0]) => this.#answerOffer("block", a, b),
    visit: ([a = 0, b = 0]) => {
      const [shop, client] = [this.#shop(a), this.#client(b)]
      this.#act(
        shop,
        "visit",
        { client: client.id },
        Effect.flatMap(Clients, (clients) => clients.visit(client.id as never, shop.id as never))
      )
    },
    receiver: ([a = 0, b = 0]) => {
      this.#shop(a).mood = moods[b % 10 < 4 ? 0 : b % moods.length]!
    },
    storeAway: ([a = 0, b = 0]) => {
      const node = this.#node(a)
      const ms = 200 + (b % 6000)
      node.faults.isStoreAway = true
      this.#fault(node, "store away", ms, () => {
        node.faults.isStoreAway = false
      })
    },
    storeFlaky: ([a = 0, b = 0, c = 0]) => {
      const node = this.#node(a)
      const ms = 1000 + (b % 8000)
      node.faults.failing = c % 3 === 0 ? 0.2 : 0.05
      node.faults.lostAnswers = c % 3 === 1 ? 0.25 : 0.05
      this.#fault(node, "store flaky", ms, () => {
        node.faults.failing = 0
        node.faults.lostAnswers = 0
      })
    },
    stopNode: ([a = 0, b = 0]) => {
      const node = this.#node(a)
      if (node.machine.isStopped || this.#up().filter(({ machine }) => !machine.isStopped).length < 2) return
      // Now and then longer than a lease lasts.
      const ms = b % 3 === 0 ? 15_500 + (b % 8000) : 100 + (b % 4000)
      node.machine.isStopped = true
      this.#fault(node, "stopped", ms, () => node.machine.goOn())
    },
    killNode: ([a = 0, b = 0, c = 0]) => {
      if (this.#up().length < 2) return
      const node = this.#node(a)
      node.machine.die()
      this.#fault(node, "killed", 100 + (b % 5000), () => this.#startNode((c % 3000) - 1500))
    },
    clock: ([a = 0, b = 0, c = 0]) => {
      const node = this.#node(a)
      if (c % 3 > 0) {
        // As clocks are: a little apart, stepping when they are corrected.
        node.machine.clock_off_ms = (b % 3000) - 1500
        return
      }
      // All were wrong by hours, and are corrected a while later.
      if (this.world.ahead_ms > 0) return
      this.world.ahead_ms = (1 + (b % 3)) * HOUR
      this.#fault(node, "all clocks ahead", 300 + (b % 3000), () => {
        this.world.ahead_ms = 0
      })
      if (a % 2 === 0) for (const other of this.#up()) this.#deafen(other, 100_000)
    },
    deaf: ([a = 0, b = 0]) => this.#deafen(this.#node(a), b % 3 === 0 ? 65_000 + (b % 90_000) : 1000 + (b % 20_000)),
    notifierFails: ([a = 0, b = 0]) => {
      const node = this.#node(a)
      node.faults.failingNotifiers = 0.6
      this.world.later(500 + (b % 9000), () => {
        node.faults.failingNotifiers = 0
      })
    },
    leap: ([a = 0]) => this.#sleep(LEAPS[a % 20 === 0 ? 6 : a % 4]!)
  }

  /** A node hears no news of keys and settings for a while. */
  #deafen(node: Node, ms: number): void {
    node.faults.isDeaf = true
    this.#fault(node, "deaf", ms, () => {
      node.faults.isDeaf = false
    })
  }

  #useEverywhere(shop: KnownShop, key: KnownKey): void {
    for (const node of this.#up()) this.#send({ shop, key, method: "GET", path: "/v1/shop" }, () => {}, node)
  }

  #patch(shop: KnownShop, patch: Json): void {
    const input = Schema.decodeUnknownSync(ShopPatch)(patch)
    this.#act(
      shop,
      "change",
      patch,
      Effect.flatMap(Shops, (shops) => shops.change(shop.id as never, input)),
      () => {},
      20
    )
  }

  #turnOn(shop: KnownShop, tries = 0): void {
    this.#act(
      shop,
      "turn on",
      {},
      Effect.flatMap(Webhooks, (webhooks) => webhooks.enable(shop.id as never)),
      () => {},
      tries
    )
  }

  #setAddress(shop: KnownShop, tries = 0): void {
    const url = `https://${this.#fresh("receiver")}.example.com/${shop.no}`
    this.#act(
      shop,
      "address",
      { url },
      Effect.flatMap(Webhooks, (webhooks) => webhooks.set(shop.id as never, url as never)),
      () => {},
      tries
    )
  }

  #makeKey(shop: KnownShop): void {
    const input = KeyInput.make({ name: this.#fresh("key"), scopes: [...scopePresets.full] })
    const made = Effect.flatMap(Keys, (keys) => keys.create(shop.id as never, input))
    this.#act(shop, "make a key", {}, made, ({ record, key }) =>
      shop.keys.push({ id: record.id, text: key, isRevoked: false })
    )
  }

  #answerOffer(how: "accept" | "block", a: number, b: number): void {
    const client = this.#client(a)
    const find = Effect.flatMap(Offers, (offers) => offers.ofClient(client.id as never))
    this.#act(undefined, "look at offers", { client: client.id }, find, (all) => {
      const open = all.filter(({ status }) => status === "open")
      const offer = open[b % Math.max(1, open.length)]
      if (offer === undefined) return
      const shop = this.#shops.find(({ id }) => id === offer.shop_id)
      const about = { client: client.id, ticket: offer.ticket_id }
      this.#act(
        shop,
        how,
        about,
        Effect.flatMap(Offers, (offers) => offers[how](client.id as never, offer.id))
      )
    })
  }

  /** Follows a shop's changes page by page, and goes on where it stopped. */
  #follow(shop: KnownShop, pick: number, onEnd: () => void = () => {}): void {
    if (shop.sync.isBusy) return
    shop.sync.isBusy = true
    const page = (left: number) => {
      const { since, cursor } = shop.sync
      const query = new URLSearchParams({ updated_since: since, limit: "3", ...(cursor === null ? {} : { cursor }) })
      this.#send(
        { shop, key: this.#keyOf(shop, pick * 12 + 1), method: "GET", path: "/v1/tickets", query: query.toString() },
        (status, answer) => {
          if (status !== 200) {
            shop.sync.isBusy = false
            return left > 0 ? this.world.later(900, () => this.#follow(shop, pick + 1, onEnd)) : onEnd()
          }
          for (const ticket of answer.data) shop.mirror.set(ticket.id, ticket)
          if (answer.meta.has_more) {
            shop.sync.cursor = answer.meta.next_cursor
            return page(left - 1)
          }
          shop.sync = { since: answer.meta.synced_until, cursor: null, isBusy: false }
          onEnd()
        }
      )
    }
    page(200)
  }

  // The beginning and the end

  #open_(): void {
    const { world } = this
    for (const off_ms of this.#seed % 2 === 0 ? [0, 700, -900] : [0, -900]) this.#startNode(off_ms)
    world.pass(50)
    for (let no = 0; no < 2; no++) {
      const input = ShopInput.make({
        name: `Shop ${no}` as never,
        currency: "TND" as never,
        decimals: 3 as never,
        time_zone: "Africa/Tunis" as never
      })
      this.#act(
        undefined,
        "open a shop",
        {},
        Effect.flatMap(Shops, (shops) => shops.create(input)),
        ({ id }) => {
          const since = new Date(START - HOUR).toISOString()
          const sync = { since, cursor: null, isBusy: false }
          this.#shops.push({
            no: this.#shops.length,
            id,
            keys: [],
            tickets: [],
            mood: moods[0],
            url: "",
            isApiOn: true,
            isProgramOn: true,
            mirror: new Map(),
            sync
          })
        }
      )
      world.pass(100)
    }
    for (const shop of this.#shops) {
      this.#makeKey(shop)
      this.#makeKey(shop)
      this.#setAddress(shop)
      this.#patch(shop, {
        program: { active: true, name: "Stamps", stamps_required: 3, stamps_per_ticket: 1, reward_label: "A hem" }
      })
      world.pass(100)
    }
    for (let i = 0; i < 3; i++) {
      const phone = `+2162000000${i}`
      const input = ClientInput.make({
        given_name: "Amira" as never,
        family_name: "Ben" as never,
        phone: phone as never
      })
      this.#act(
        undefined,
        "register",
        {},
        Effect.flatMap(Clients, (clients) => clients.register(input)),
        ({ id }) => this.#clients.push({ id, phone })
      )
      world.pass(50)
    }
    for (const [i, client] of this.#clients.entries()) {
      const shop = this.#shop(i)
      this.#act(
        shop,
        "visit",
        { client: client.id },
        Effect.flatMap(Clients, (clients) => clients.visit(client.id as never, shop.id as never))
      )
    }
    world.pass(100)
  }

  #heal(): void {
    const { world, history } = this
    // Every fault has come to its end by then, and every receiver has answered.
    for (const shop of this.#shops) shop.mood = moods[0]
    world.pass(SECOND)
    this.#sleep(25 * SECOND)
    world.pass(SECOND)
    for (const { machine } of this.#nodes) machine.clock_off_ms = 0
    for (const shop of this.#shops) {
      if (!shop.isApiOn) this.#steps.switchApi([shop.no])
      this.#turnOn(shop, 5)
      this.#makeKey(shop)
    }
    history.healed_at = world.now
    world.pass(2 * SECOND)
    this.#sleep(61 * SECOND)
    for (const open of [...this.#open.values()]) {
      const shop = open.shop
      const key = shop.keys.find(({ id }) => id === open.key.id)!
      // A key that was revoked can ask for its answer no more.
      if (!key.isRevoked) this.#insist(open)
      world.pass(20)
    }
  }

  #finish(): void {
    const { world, history } = this
    world.pass(3 * SECOND)
    // What failed has its next attempts; a delivery may have failed seven times.
    for (const ms of [
      61 * SECOND,
      6 * MINUTE,
      31 * MINUTE,
      121 * MINUTE,
      6 * HOUR,
      12 * HOUR + MINUTE,
      24 * HOUR + MINUTE
    ]) {
      this.#sleep(ms)
      world.pass(1200)
    }
    for (const shop of this.#shops) {
      this.#makeKey(shop)
      this.#follow(shop, 0)
    }
    world.pass(3 * SECOND)
    history.shops = this.#shops.map((shop) => this.#endOf(shop))
    history.clients = this.#clients.map(({ id }) => id)
    history.ended_at = world.now
  }

  /** Waits for the answer to a request that no fault hits. */
  #get(shop: KnownShop, path: string, query = ""): Json {
    let got: Json = null
    let status_ = 0
    const good = shop.keys.filter(({ isRevoked }) => !isRevoked)
    this.#send({ shop, key: good.at(-1)!, method: "GET", path, query }, (status, answer) => {
      got = answer
      status_ = status ?? 0
    })
    this.world.pass(40)
    return { status: status_, ...got }
  }

  #owner<A, E>(work: Effect.Effect<A, E, Services>): A {
    let got: A | undefined
    this.#act(undefined, "look", {}, work, (answer) => {
      got = answer
    })
    this.world.pass(40)
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
        Effect.flatMap(DeliveryHistory, (history) => history.deliveries(id, { limit: 10_000 }))
      ) as ReadonlyArray<Json>,
      notices: this.#owner(Effect.flatMap(DeliveryHistory, (history) => history.notices(id))) as ReadonlyArray<Json>,
      webhook: this.#owner(Effect.flatMap(Webhooks, (webhooks) => webhooks.status(id))) as Json,
      cards: this.#clients.map((client) => {
        const { status, data } = this.#get(shop, `/v1/clients/${client.id}/loyalty`)
        return { client: client.id, status, data: data ?? null }
      })
    }
  }
}
