import {
  type ActResult,
  iso,
  type Json,
  type Line,
  type NaiveClient,
  type NaiveOffer,
  type NaiveShop,
  type NaiveTicket,
  quoteView,
  refuse,
  ticketView
} from "./NaiveRecords.js"

const HOUR = 3_600_000
const DAY = 24 * HOUR

/**
 * A model of the workshop, written from the specification with arrays and ifs. It shares no code with the service, so
 * that an error of the service is not repeated here. Tickets, clients and shops are indices into their arrays.
 */
export class NaiveWorkshop {
  readonly tickets: Array<NaiveTicket> = []
  readonly offers: Array<NaiveOffer> = []
  readonly inbox: Array<{ client: number; type: string; ticket: Json }> = []
  #known: Array<string> = []
  #blocked: Array<string> = []
  #ledger: Array<Line> = []
  #given: Array<{ subject: string; day: number; n: number }> = []
  #remembered: Array<{ place: string; request: string; result: Json; until: number }> = []
  clock: number

  constructor(
    readonly shops: ReadonlyArray<NaiveShop>,
    readonly clients: ReadonlyArray<NaiveClient>,
    start: number
  ) {
    this.clock = start
  }

  /**
   * The instant of a change. It is never earlier than the instant of the previous change, even if the clock steps back.
   */
  #recorded(shop: number): number {
    return Math.max(this.clock, this.shops[shop]!.last)
  }

  /** Stores the instant of a change as the shop's last one. */
  #changed(shop: number): void {
    this.shops[shop]!.last = this.#recorded(shop)
  }

  sees(shop: number, client: number): boolean {
    return this.#known.includes(`${shop} ${client}`) && !this.#blocked.includes(`${shop} ${client}`)
  }

  #badge(shop: number, client: number | null): Json {
    return client !== null && this.sees(shop, client) ? { client, display_name: this.clients[client]!.name } : null
  }

  view(n: number): Json {
    const t = this.tickets[n]!
    return ticketView(n, t, this.#badge(t.shop, t.client))
  }

  #raise(n: number, type: string, more: { readonly [name: string]: Json } = {}): void {
    const shop = this.shops[this.tickets[n]!.shop]!
    const at = iso(this.#recorded(this.tickets[n]!.shop))!
    shop.events.push({ type, ticket: n, at, data: { ticket: this.view(n), ...more } })
  }

  /**
   * Stores the result of a successful act under its key for thirty days (Specification,
   * Idempotency).
   */
  #once(place: string, key: string | null, request: string, run: () => ActResult): ActResult {
    const full = `${place} ${key}`
    const first = this.#remembered.findLast((r) => r.place === full && this.clock < r.until)
    if (key !== null && first !== undefined) {
      return first.request === request ? { ok: { data: first.result, replayed: true } } : refuse("IdempotencyKeyReused")
    }
    const until = this.clock + 30 * DAY
    const result = run()
    if (!("ok" in result)) return result
    if (key !== null) this.#remembered.push({ place: full, request, result: result.ok, until })
    return { ok: { data: result.ok, replayed: false } }
  }

  #dayOf(shop: number): number {
    return Math.floor((this.clock + this.shops[shop]!.hours_ahead * HOUR) / DAY)
  }

  create(
    shop: number,
    caller: number,
    key: string | null,
    ask: {
      readonly service: string
      readonly client: number | null
      readonly phone: string | null
      readonly price: number | null
      readonly deposit: number | null
    }
  ): ActResult {
    return this.#once(`create ${caller}`, key, JSON.stringify(ask), () => {
      if (ask.client !== null && !this.sees(shop, ask.client)) return refuse("ClientNotFound")
      const s = this.shops[shop]!
      const now = this.clock
      // A window that ends more than an hour from now was opened by a clock that was ahead, by up to 5 s on another
      // node.
      if (now >= s.hour.until || s.hour.until - now > HOUR + 5_000) s.hour = { n: 0, until: now + HOUR }
      if (this.#dayOf(shop) > s.day.day) s.day = { n: 0, day: this.#dayOf(shop) }
      // A refusal saves no window, so the hour begins with the next command.
      const fresh = s.hour.n === 0
      if (s.hour.n >= 150 || s.day.n >= 600) {
        if (fresh) s.hour.until = 0
        return refuse("LimitReached")
      }
      s.hour.n++
      s.day.n++
      const number = s.next
      s.next = number === 9999 ? 1 : number + 1
      this.#changed(shop)
      const blank = { state: "workshop", outcome: null, before: null, quote: null, ready: null, collected: null }
      const rest = { abandoned: null, reason: null, notified: null, earned: false }
      const recorded = this.#recorded(shop)
      const n =
        this.tickets.push({
          ...ask,
          ...blank,
          ...rest,
          shop,
          number,
          created: recorded,
          updated: recorded,
          news: now
        }) - 1
      this.#raise(n, "ticket.created")
      if (ask.client !== null) this.#raise(n, "client.linked", { client: this.#badge(shop, ask.client) })
      const own = ask.client === null ? null : this.clients[ask.client]!.phone
      if (ask.phone !== null && ask.phone !== own)
        this.offers.push({ shop, ticket: n, phone: ask.phone, status: "open" })
      return { ok: this.view(n) }
    })
  }

  /** The statuses that a ticket accepts now (Specification, States). */
  #allowed(t: NaiveTicket): ReadonlyArray<string> {
    if (t.state === "workshop") return ["ready", "impossible"]
    if (t.state === "ready" || t.state === "impossible") return ["collected", "workshop"]
    if (t.state === "collected" && this.clock - t.collected! <= 24 * HOUR) return ["workshop"]
    return []
  }

  status(shop: number, n: number, to: string): ActResult {
    const t = this.tickets[n]
    if (t === undefined || t.shop !== shop) return refuse("TicketNotFound")
    const allowed = this.#allowed(t)
    const from = t.state
    if (!allowed.includes(to)) {
      if (from === "abandoned") return { refused: "TicketAbandoned", allowed }
      if (from === "collected" && allowed.length === 0) return { refused: "ReopenWindowPassed", allowed }
      return { refused: from === to ? "SameState" : "InvalidTransition", allowed }
    }
    this.#changed(shop)
    const [now, recorded] = [this.clock, this.#recorded(shop)]
    const linked = t.client !== null && this.sees(shop, t.client)
    t.state = to
    t.updated = recorded
    t.news = now
    if (to === "ready") t.ready = now
    if (to === "collected") {
      t.collected = now
      t.outcome = from
    }
    if (to === "workshop") t.ready = t.collected = t.outcome = null
    const notifies = linked && (to === "ready" || to === "impossible")
    if (notifies) t.notified = now
    if (to === "workshop") this.#raise(n, "ticket.reopened", { from })
    else this.#raise(n, `ticket.${to}`)
    if (notifies) {
      this.#raise(n, "client.notified", { channel: "app", notified_at: iso(now) })
      this.inbox.push({ client: t.client!, type: `ticket.${to}`, ticket: this.view(n) })
    }
    const earns = to === "ready" || (to === "collected" && t.outcome === "ready")
    if (earns && linked && this.shops[shop]!.program && !t.earned) {
      t.earned = true
      this.#ledger.push({ shop, client: t.client!, stamps: this.shops[shop]!.per_ticket, redeem: false, at: recorded })
    }
    return { ok: this.view(n) }
  }

  #act(
    shop: number,
    n: number,
    by: "shop" | "client",
    change: (t: NaiveTicket, now: number) => string | null
  ): ActResult {
    const t = this.tickets[n]
    if (t === undefined || t.shop !== shop) return refuse("TicketNotFound")
    if (t.state === "abandoned") return refuse("TicketAbandoned")
    const refusal = change(t, this.clock)
    if (refusal !== null) return refuse(refusal)
    this.#changed(shop)
    t.updated = this.#recorded(shop)
    if (by === "shop") t.news = this.clock
    return { ok: this.view(n) }
  }

  notified(shop: number, n: number, channel: string): ActResult {
    const result = this.#act(shop, n, "shop", (t, now) => {
      t.notified = now
      return null
    })
    if ("ok" in result) this.#raise(n, "client.notified", { channel, notified_at: iso(this.tickets[n]!.notified) })
    return result
  }

  quote(shop: number, n: number, price: number): ActResult {
    const t = this.tickets[n]
    if (t?.shop === shop && t.state === "collected") return refuse("QuoteClosed")
    const result = this.#act(shop, n, "shop", (t, now) => {
      if (t.deposit !== null && price < t.deposit) return "InvalidInput"
      t.quote = { status: "proposed", price, proposed: now, answered: null }
      return null
    })
    if ("ok" in result) this.#raise(n, "quote.proposed", { quote: quoteView(this.tickets[n]!) })
    return result
  }

  answerQuote(shop: number, n: number, status: "accepted" | "refused"): ActResult {
    const t = this.tickets[n]
    if (t?.shop === shop && ["collected", "abandoned"].includes(t.state)) return refuse("QuoteClosed")
    const result = this.#act(shop, n, "client", (t, now) => {
      if (t.quote === null || t.quote.status !== "proposed") return "QuoteClosed"
      t.quote = { ...t.quote, status, answered: now }
      if (status === "accepted") {
        t.before = t.price
        t.price = t.quote.price
      }
      return null
    })
    if ("ok" in result) this.#raise(n, `quote.${status}`, { quote: quoteView(this.tickets[n]!) })
    return result
  }

  visit(shop: number, client: number): ActResult {
    const pair = `${shop} ${client}`
    if (this.#known.includes(pair) || this.#blocked.includes(pair)) return { ok: null }
    this.#known.push(pair)
    this.#changed(shop)
    return { ok: null }
  }

  offersSeen(client: number): ReadonlyArray<NaiveOffer> {
    return this.offers.filter(
      ({ phone, status, shop }) =>
        phone === this.clients[client]!.phone && !(status === "open" && this.#blocked.includes(`${shop} ${client}`))
    )
  }

  answerOffer(client: number, offer: NaiveOffer, status: "accepted" | "blocked"): ActResult {
    const { shop } = offer
    const pair = `${shop} ${client}`
    if (offer.status !== "open" || this.#blocked.includes(pair)) return refuse("OfferClosed")
    offer.status = status
    this.#changed(shop)
    if (status === "blocked") {
      this.#blocked.push(pair)
      return { ok: null }
    }
    if (!this.#known.includes(pair)) this.#known.push(pair)
    const t = this.tickets[offer.ticket]!
    if (t.state !== "abandoned" && (t.client === null || !this.sees(shop, t.client))) {
      t.client = client
      t.updated = this.#recorded(shop)
      this.#raise(offer.ticket, "client.linked", { client: this.#badge(shop, client) })
    }
    return { ok: null }
  }

  card(shop: number, client: number): { readonly [name: string]: Json } {
    const lines = this.#ledger.filter((line) => line.shop === shop && line.client === client)
    const balance = lines.reduce((sum, line) => sum + line.stamps, 0)
    return {
      balance,
      lifetime: lines.reduce((sum, line) => sum + Math.max(line.stamps, 0), 0),
      rewards_available: Math.floor(balance / this.shops[shop]!.required),
      rewards_redeemed: lines.filter(({ redeem }) => redeem).length,
      updated_at: iso(lines[lines.length - 1]?.at ?? null)
    }
  }

  stamps(shop: number, caller: number, key: string, client: number, count: number): ActResult {
    return this.#once(`stamps ${caller}`, key, `${client} ${count}`, () => {
      if (!this.sees(shop, client)) return refuse("ClientNotFound")
      if (!this.shops[shop]!.program) return refuse("LoyaltyOff")
      const subject = `${shop} ${caller} ${client}`
      const today = this.#given.filter((gift) => gift.subject === subject && gift.day === this.#dayOf(shop))
      if (today.reduce((sum, gift) => sum + gift.n, 0) + count > 20) return refuse("LimitReached")
      this.#given.push({ subject, day: this.#dayOf(shop), n: count })
      const before = this.card(shop, client).rewards_available as number
      this.#changed(shop)
      this.#ledger.push({ shop, client, stamps: count, redeem: false, at: this.#recorded(shop) })
      const card = this.card(shop, client)
      return { ok: { card, added: count, rewards_unlocked: (card.rewards_available as number) - before } }
    })
  }

  redeem(shop: number, caller: number, key: string, client: number): ActResult {
    return this.#once(`redeem ${caller}`, key, `${client}`, () => {
      if (!this.sees(shop, client)) return refuse("ClientNotFound")
      const s = this.shops[shop]!
      if (!s.program) return refuse("LoyaltyOff")
      if ((this.card(shop, client).balance as number) < s.required) return refuse("NoReward")
      this.#changed(shop)
      this.#ledger.push({ shop, client, stamps: -s.required, redeem: true, at: this.#recorded(shop) })
      return { ok: { card: this.card(shop, client), reward: { label: "A hem", redeemed_at: iso(this.clock) } } }
    })
  }

  settings(shop: number, change: Partial<Pick<NaiveShop, "program" | "required" | "per_ticket" | "next">>): ActResult {
    Object.assign(this.shops[shop]!, change)
    this.#changed(shop)
    return { ok: null }
  }

  /**
   * Closes tickets that were ready but not collected, or in the workshop without news, for sixty days (Specification,
   * States).
   */
  close(): ActResult {
    let closed = 0
    this.tickets.forEach((t, n) => {
      const since = t.state === "ready" ? t.ready! : t.state === "workshop" ? t.news : null
      if (since === null || this.clock < since + 60 * DAY) return
      this.#changed(t.shop)
      t.reason = t.state === "ready" ? "uncollected" : "no_news"
      t.abandoned = since + 60 * DAY
      t.state = "abandoned"
      t.updated = this.#recorded(t.shop)
      this.#raise(n, "ticket.abandoned", { reason: t.reason })
      closed++
    })
    return { ok: closed }
  }

  client(shop: number, client: number): Json {
    if (!this.sees(shop, client)) return null
    const theirs = this.tickets.filter((t) => t.shop === shop && t.client === client)
    return {
      client,
      display_name: this.clients[client]!.name,
      tickets_open: theirs.filter(({ state }) => ["workshop", "ready", "impossible"].includes(state)).length,
      tickets_total: theirs.length,
      loyalty: this.shops[shop]!.program ? this.card(shop, client) : null
    }
  }
}
