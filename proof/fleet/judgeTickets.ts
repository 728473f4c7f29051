import { byKeys, type Exchange, type History, type Json, mayRepeat, REMEMBERED_MS } from "./History.js"

const DAY = 24 * 3_600_000

/** The event of each allowed move, by state and requested status (Specification, States). */
const moves: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  workshop: { ready: "ticket.ready", impossible: "ticket.impossible" },
  ready: { collected: "ticket.collected", workshop: "ticket.reopened" },
  impossible: { collected: "ticket.collected", workshop: "ticket.reopened" },
  collected: { workshop: "ticket.reopened" },
  abandoned: {}
}

const stateAfter: Readonly<Record<string, string>> = {
  "ticket.created": "workshop",
  "ticket.ready": "ready",
  "ticket.impossible": "impossible",
  "ticket.collected": "collected",
  "ticket.reopened": "workshop",
  "ticket.abandoned": "abandoned"
}

const ms = (text: string): number => Date.parse(text)

/** The committed events of a shop, each with the instant of its commit. */
const eventsOf = ({ commits }: History, shop: string): ReadonlyArray<{ readonly at: number; readonly event: Json }> =>
  commits.flatMap((commit) =>
    commit.kind === "event" && commit.shop === shop ? [{ at: commit.at, event: JSON.parse(commit.body) }] : []
  )

/** The first event that a request raises if it succeeds. */
const raises = ({ method, path, body }: Exchange): { readonly type: string; readonly ticket: string | null } | null => {
  if (method !== "POST") return null
  if (path === "/v1/tickets") return { type: "ticket.created", ticket: null }
  const [, ticket, what] = /^\/v1\/tickets\/([^/]+)\/(status|notified)$/.exec(path) ?? []
  if (ticket === undefined) return null
  if (what === "notified") return { type: "client.notified", ticket }
  const type = {
    ready: "ticket.ready",
    impossible: "ticket.impossible",
    collected: "ticket.collected",
    workshop: "ticket.reopened"
  }[body.status as string]
  return type === undefined ? null : { type, ticket }
}

const actTypes: Readonly<Record<string, string>> = {
  quote: "quote.proposed",
  "quote accepted": "quote.accepted",
  "quote refused": "quote.refused",
  ping: "ping"
}

interface Cause {
  readonly from: number
  readonly until: number
  readonly isSure: boolean
  readonly what: string
  readonly says: (event: Json) => boolean
  /** The causes that this one may repeat. */
  readonly repeats: ReadonlyArray<Cause>
  used: boolean
}

/** The requests and actions that raise events. Requests with the same Idempotency-Key are one cause. */
const causesOf = (history: History, index: number): ReadonlyArray<Cause> => {
  const raising = history.exchanges.filter((exchange) => exchange.shop === index && raises(exchange) !== null)
  const earlier: Array<readonly [ReadonlyArray<Exchange>, Cause]> = []
  const requests = byKeys(raising).flatMap((all): ReadonlyArray<Cause> => {
    const isSure = all.some(({ status }) => status !== null && status < 300)
    const isPossible = isSure || all.some(({ status }) => status === null || status === 503)
    if (!isPossible) return []
    const { type, ticket } = raises(all[0]!)!
    const { body } = all[0]!
    const says = ({ type: found, data }: Json) =>
      found === type &&
      (ticket === null || data.ticket?.id === ticket) &&
      (type !== "ticket.created" || data.ticket.external_ref === body.external_ref) &&
      (type !== "client.notified" || data.channel === body.channel)
    const good = all.filter(({ status }) => status !== null && status < 300)
    // A request without a response may take effect long after its client disconnected.
    const until = isSure ? Math.min(...good.map(({ ended_at }) => ended_at)) : Number.POSITIVE_INFINITY
    const { method, path, idempotency_key } = all[0]!
    const cause: Cause = {
      ...{ from: Math.min(...all.map(({ at }) => at)), until, isSure, says, used: false },
      what: `${method} ${path} ${idempotency_key}`,
      repeats: earlier.flatMap(([group, cause]) => (mayRepeat(all, group) ? [cause] : []))
    }
    earlier.push([all, cause])
    // A request without a response may be executed after its key has expired, for example on a machine that was asleep.
    const late: Cause = { ...cause, from: cause.from + REMEMBERED_MS, until: Number.POSITIVE_INFINITY, isSure: false }
    return all.some(({ status }) => status === null) ? [cause, late] : [cause]
  })
  const acts = history.acts.flatMap((act): ReadonlyArray<Cause> => {
    const type = actTypes[act.act]
    if (act.shop !== index || type === undefined || act.outcome === "refused") return []
    const isSure = act.outcome === "done"
    const says = (event: Json) => event.type === type && (type === "ping" || event.data.ticket.id === act.about.ticket)
    const until = isSure ? act.ended_at : Number.POSITIVE_INFINITY
    return [{ from: act.at, until, isSure, what: act.act, says, repeats: [], used: false }]
  })
  return [...requests, ...acts].sort((a, b) => Number(b.isSure) - Number(a.isSure) || a.until - b.until)
}

const comesByItself = (event: Json, before: Json | undefined, links: ReadonlySet<string>): boolean => {
  if (event.type === "ticket.abandoned") return true
  const isBehind = before?.data.ticket?.id === event.data.ticket?.id
  if (event.type === "client.notified")
    return (
      event.data.channel === "app" &&
      isBehind &&
      (before.type === "ticket.ready" || before.type === "ticket.impossible")
    )
  if (event.type === "client.linked")
    return (isBehind && before.type === "ticket.created") || links.has(event.data.ticket.id)
  return false
}

/** Every acknowledged change has one event, every event has a cause, and the log contains the committed events. */
export function* judgeEvents(history: History): Iterable<string> {
  for (const [index, shop] of history.shops.entries()) {
    const events = eventsOf(history, shop.id)
    const links = new Set(
      history.acts.flatMap((act) =>
        act.act === "accept" && act.outcome !== "refused" ? [act.about.ticket as string] : []
      )
    )
    const causes = causesOf(history, index)
    for (const [i, { at, event }] of events.entries()) {
      const before = events[i - 1]
      if (before !== undefined && ms(event.created_at) < ms(before.event.created_at))
        yield `time went back: ${before.event.type} at ${before.event.created_at}, then ${event.type} at ${event.created_at}`
      if (event.shop_id !== shop.id || event.api_version !== "1")
        yield `an event is another shop's: ${JSON.stringify(event)}`
      if (comesByItself(event, before?.event, links)) continue
      const cause = causes.find((one) => !one.used && one.from <= at && at <= one.until && one.says(event))
      if (cause === undefined)
        yield `${event.type} at ${at} ms comes of nothing that was done: ${JSON.stringify(event.data).slice(0, 200)}`
      else cause.used = true
      const follower = events[i + 1]?.event
      const isFollowed = follower?.data.ticket?.id === event.data.ticket?.id
      const has = event.data.ticket?.client !== null && event.data.ticket !== undefined
      if (
        (event.type === "ticket.ready" || event.type === "ticket.impossible") &&
        has &&
        !(isFollowed && follower.type === "client.notified")
      )
        yield `${event.type} of a client without client.notified`
      if (event.type === "ticket.created" && has && !(isFollowed && follower.type === "client.linked"))
        yield "ticket.created of a client without client.linked"
    }
    for (const cause of causes)
      if (cause.isSure && !cause.used && !cause.repeats.some(({ used }) => used))
        yield `what was acknowledged until ${cause.until} ms raised no event in shop ${index}: ${cause.what}`
    const log = shop.events.map(({ body }: Json) => body)
    if (JSON.stringify(log) !== JSON.stringify(events.map(({ event }) => JSON.stringify(event))))
      yield `the log of shop ${index} has ${log.length} events, ${events.length} were committed`
  }
}

interface Standing {
  readonly at: number
  readonly state: string
  readonly collected_at: string | null
  readonly updated_at: string
}

/** The successive states of each ticket, with the instants at which they began. */
const standingsOf = (
  events: ReadonlyArray<{ readonly at: number; readonly event: Json }>
): ReadonlyMap<string, ReadonlyArray<Standing>> => {
  const standings = new Map<string, Array<Standing>>()
  for (const { at, event } of events) {
    const ticket = event.data.ticket
    if (ticket === undefined) continue
    const { state, collected_at, updated_at } = ticket
    standings.set(ticket.id, [...(standings.get(ticket.id) ?? []), { at, state, collected_at, updated_at }])
  }
  return standings
}

const reasonFor = ({ state }: Standing, to: string): ReadonlyArray<string> => {
  if (state === "abandoned") return ["ABANDONED"]
  if (state === "collected")
    return to === "collected"
      ? ["SAME_STATE", "REOPEN_WINDOW"]
      : to === "workshop"
        ? ["REOPEN_WINDOW"]
        : ["INVALID_TRANSITION", "REOPEN_WINDOW"]
  if (state === to) return ["SAME_STATE"]
  return moves[state]?.[to] === undefined ? ["INVALID_TRANSITION"] : []
}

/**
 * Tickets change their states by the table, have consecutive numbers and close on time. A refusal matches the state of
 * its ticket.
 */
export function* judgeTickets(history: History): Iterable<string> {
  for (const [index, shop] of history.shops.entries()) {
    const events = eventsOf(history, shop.id)
    const states = new Map<string, Json>()
    let number = 0
    for (const { event } of events) {
      const ticket = event.data.ticket
      const before = ticket === undefined ? undefined : states.get(ticket.id)
      const to = stateAfter[event.type]
      if (ticket !== undefined) states.set(ticket.id, ticket)
      if (to === undefined) {
        if (before !== undefined && before.state !== ticket.state) yield `${event.type} changed a state`
        continue
      }
      if (ticket.state !== to) yield `${event.type} carries a ticket that is ${ticket.state}`
      if (event.type === "ticket.created") {
        number++
        if (ticket.number !== number) yield `number ${ticket.number} where ${number} is next`
        continue
      }
      if (before === undefined) yield `${event.type} of a ticket that was never created`
      else if (event.type === "ticket.abandoned") yield* closureWrong(event, before, events)
      else if (moves[before.state]?.[to] !== event.type) yield `from ${before.state} to ${to}`
      else if (before.state === "collected" && ms(ticket.updated_at) - ms(before.collected_at) > DAY)
        yield `reopened ${ms(ticket.updated_at) - ms(before.collected_at)} ms after it was collected`
      yield* fieldsWrong(ticket, before)
    }
    for (const ticket of shop.tickets) {
      const last = states.get(ticket.id)
      if (JSON.stringify({ ...last, client: null }) !== JSON.stringify({ ...ticket, client: null }))
        yield `ticket ${ticket.number} is not as its last event left it: ${JSON.stringify(last)} against ${JSON.stringify(ticket)}`
    }
    yield* refusalsWrong(history, index, standingsOf(events))
  }
}

function* closureWrong(
  { data }: Json,
  before: Json,
  events: ReadonlyArray<{ readonly at: number; readonly event: Json }>
): Iterable<string> {
  const { id, abandoned_at } = data.ticket
  if (before.state !== "ready" && before.state !== "workshop") return yield `closed from ${before.state}`
  const reason = before.state === "ready" ? "uncollected" : "no_news"
  if (data.reason !== reason || data.ticket.abandon_reason !== reason) yield `closed for ${data.reason}, not ${reason}`
  if (before.state === "ready" && ms(abandoned_at) !== ms(before.ready_at) + 60 * DAY)
    yield `closed ${ms(abandoned_at) - ms(before.ready_at)} ms after it was ready`
  if (before.state === "workshop") {
    const byShop = events.filter(
      ({ event }) => event.data.ticket?.id === id && !/abandoned|linked|accepted|refused/.test(event.type)
    )
    const last = Math.max(...byShop.map(({ event }) => ms(event.data.ticket.updated_at)))
    // `updated_at` may be ahead of the clock of the closures, if that clock was corrected.
    if (ms(abandoned_at) > last + 60 * DAY) yield `closed ${ms(abandoned_at) - last} ms after the last news`
  }
}

function* fieldsWrong(ticket: Json, before: Json | undefined): Iterable<string> {
  const { state, outcome, ready_at, collected_at } = ticket
  if (before !== undefined && ms(ticket.updated_at) < ms(before.updated_at)) yield "updated_at goes back"
  if (state === "workshop" && (outcome ?? ready_at ?? collected_at) !== null)
    yield "in the workshop with the fields of an earlier end"
  if (state === "ready" && ready_at === null) yield "ready without ready_at"
  if (state === "collected" && (collected_at === null || outcome !== before?.state))
    yield `collected with the outcome ${outcome} after ${before?.state}`
}

function* refusalsWrong(
  { exchanges }: History,
  index: number,
  standings: ReadonlyMap<string, ReadonlyArray<Standing>>
): Iterable<string> {
  for (const { shop, path, status, response, at, ended_at, body } of exchanges) {
    const [, id] = /^\/v1\/tickets\/([^/]+)\/status$/.exec(path) ?? []
    const reason = response?.error?.details?.reason
    if (shop !== index || status !== 409 || id === undefined || reason === "IDEMPOTENCY_KEY_REUSED") continue
    const all = standings.get(id) ?? []
    // The states that the ticket had while the request was in flight.
    const possible = all.filter(
      (standing, i) => standing.at <= ended_at && (all[i + 1]?.at ?? Number.POSITIVE_INFINITY) >= at
    )
    if (!possible.some((standing) => reasonFor(standing, body.status).includes(reason)))
      yield `${body.status} was refused for ${reason}, where the ticket was ${possible.map(({ state }) => state).join(", ")}`
    if (!possible.some(({ state }) => state === response.error.details.state))
      yield `a refusal says the ticket is ${response.error.details.state}`
  }
}

/**
 * A card has the stamps that were added and earned, minus the redeemed stamps. Requests without a response may count or
 * not.
 */
export function* judgeCards(history: History): Iterable<string> {
  for (const [index, shop] of history.shops.entries()) {
    const events = eventsOf(history, shop.id)
    for (const { client, status, data } of shop.cards) {
      if (status !== 200) continue
      let [min, max, redeemed, perhaps] = [0, 0, 0, 0]
      const operations = new Map<string, { readonly kind: string; readonly stamps: number; isSure: boolean }>()
      for (const exchange of history.exchanges) {
        const [, id, kind] = /^\/v1\/clients\/([^/]+)\/loyalty\/(stamps|redeem)$/.exec(exchange.path) ?? []
        if (exchange.shop !== index || id !== client || kind === undefined) continue
        const isSure = exchange.status !== null && exchange.status < 300
        if (!isSure && exchange.status !== null && exchange.status !== 503) continue
        const name = `${exchange.key} ${exchange.idempotency_key}`
        operations.set(name, {
          kind,
          stamps: exchange.body?.count ?? 0,
          isSure: isSure || operations.get(name)?.isSure === true
        })
      }
      for (const { kind, stamps, isSure } of operations.values()) {
        if (kind === "stamps") [min, max] = [min + (isSure ? stamps : 0), max + stamps]
        else if (isSure) redeemed++
        else perhaps++
      }
      const earned = new Set(
        events.flatMap(({ event: { type, data } }) =>
          data.ticket?.client?.id === client &&
          (type === "ticket.ready" || (type === "ticket.collected" && data.ticket.outcome === "ready"))
            ? [data.ticket.id]
            : []
        )
      )
      // The API does not show whether the programme was on at each of these instants, so only bounds are checked.
      const { lifetime, balance, rewards_redeemed } = data.card
      if (lifetime < min || lifetime > max + earned.size)
        yield `a card's lifetime is ${lifetime}, where ${min} to ${max} were given and at most ${earned.size} earned`
      if (rewards_redeemed < redeemed || rewards_redeemed > redeemed + perhaps)
        yield `a card has ${rewards_redeemed} rewards redeemed, where ${redeemed} were`
      if (balance !== lifetime - 3 * rewards_redeemed)
        yield `a card's balance is ${balance}, its lifetime ${lifetime} and ${rewards_redeemed} rewards redeemed`
    }
  }
}
