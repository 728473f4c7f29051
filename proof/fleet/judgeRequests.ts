import { byKeys, type Exchange, type History, type Json } from "./History.js"
import { MINUTE, SECOND } from "./Simulation.js"

const statusOf: Readonly<Record<string, number>> = {
  VALIDATION_ERROR: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  SHOP_NOT_APPROVED: 403,
  ACCOUNT_DEACTIVATED: 403,
  API_DISABLED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PROFANITY: 422,
  TOO_MANY_ATTEMPTS: 429,
  UNAVAILABLE: 503
}

const shown = ({ method, path, query, status, node, at, idempotency_key, response }: Exchange): string =>
  `${method} ${path}${query && `?${query}`} at ${node}, ${at} ms, key ${idempotency_key}: ${status} ${JSON.stringify(response).slice(0, 300)}`

const formWrong = ({ status, response, headers, isTroubled }: Exchange): string | null => {
  if (status === null) return null
  if (status === 503) return isTroubled ? null : "503 although no fault hit the node"
  if (response.success !== status < 300) return "success does not match the status"
  if (status >= 300 && statusOf[response.error?.code] !== status) return "the code does not match the status"
  if (!headers["request-id"]) return "it has no Request-Id"
  for (const name of ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"])
    if (!/^\d+$/.test(headers[name] ?? "")) return `it has no ${name}`
  if (status === 429 && headers["retry-after"] !== headers["ratelimit-reset"])
    return "Retry-After differs from RateLimit-Reset"
  return null
}

/**
 * Every response has the envelope and its headers. Requests with one Idempotency-Key have one effect and one response.
 */
export function* judgeRequests({ exchanges }: History): Iterable<string> {
  for (const exchange of exchanges) {
    const violation = formWrong(exchange)
    if (violation !== null) yield `${violation}: ${shown(exchange)}`
  }
  for (const group of byKeys(exchanges)) {
    const [first, ...others] = group.filter(
      ({ idempotency_key, status }) => idempotency_key !== null && status !== null && status < 300
    )
    for (const other of others) {
      if (JSON.stringify(first!.response.data) !== JSON.stringify(other.response.data))
        yield `one key has two answers: ${shown(first!)} and ${shown(other)}`
      if (other.response.meta?.replayed !== true && first!.response.meta?.replayed !== true)
        yield `a key had its effect twice: ${shown(other)}`
    }
  }
}

/**
 * All nodes refuse a revoked key within a minute and accept a valid one. All nodes follow a change of `api_enabled`
 * within a minute.
 */
export function* judgeAccess({ exchanges, acts, notes, healed_at }: History): Iterable<string> {
  /**
   * True if a fault may have delayed the notification of a change, so that the limit is a minute instead of a second.
   */
  const isSlow = (from: number, until: number) =>
    notes.some((note) => note.kind === "fault" && note.at <= until && note.until + 2 * SECOND >= from)
  const revoked = new Map<string, { readonly from: number; readonly until: number }>()
  for (const { act, about, at, ended_at, outcome } of acts) {
    if (act !== "revoke") continue
    const known = revoked.get(about.key)
    revoked.set(about.key, {
      from: Math.min(known?.from ?? at, at),
      until: Math.min(
        known?.until ?? Number.POSITIVE_INFINITY,
        outcome === "done" ? ended_at : Number.POSITIVE_INFINITY
      )
    })
  }
  for (const exchange of exchanges) {
    const { status, key, at, ended_at } = exchange
    if (status === null || status === 503) continue
    const { from, until } = revoked.get(key) ?? { from: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY }
    if (status === 401 && ended_at < from) yield `a good key was refused: ${shown(exchange)}`
    const max = isSlow(from - SECOND, ended_at) ? MINUTE : SECOND
    if (status !== 401 && at > until + max)
      yield `a revoked key still worked ${at - until} ms later: ${shown(exchange)}`
  }
  for (const [shop] of new Map(exchanges.map((exchange) => [exchange.shop, true]))) {
    const flags = acts.filter((act) => act.shop === shop && act.act === "change" && act.about.api_enabled !== undefined)
    for (const exchange of exchanges) {
      if (exchange.shop !== shop || exchange.status === null) continue
      const isOff = exchange.response?.error?.code === "API_DISABLED"
      // The API may be as the last action over a minute ago set it, or as any later action set it.
      const over = flags.findLastIndex((one) => one.outcome === "done" && one.ended_at < exchange.at - MINUTE)
      // An earlier action may have taken effect after the last action, if it was retried meanwhile or got no response.
      const over_at = flags[over]?.at ?? 0
      const later = flags.filter(
        (flag, i) =>
          flag.at <= exchange.ended_at && (i >= over || flag.ended_at >= over_at || flag.outcome === "unknown")
      )
      const may = new Set([...(over < 0 ? [true] : []), ...later.map((one) => one.about.api_enabled as boolean)])
      if (isOff && !may.has(false)) yield `a shop that is open was closed: ${shown(exchange)}`
      const isRefusedEarlier =
        exchange.status === 401 || exchange.status === 503 || exchange.status === 429 || exchange.status === 400
      if (!isOff && !isRefusedEarlier && !may.has(true)) yield `a closed shop was open: ${shown(exchange)}`
    }
  }
  for (const act of acts)
    if (act.at > healed_at && act.outcome === "unknown") yield `an act came to no end after the faults: ${act.act}`
}

/** A till that follows the changes has the same tickets as the shop, and pages are in the order of changes. */
export function* judgeSync({ shops, exchanges }: History): Iterable<string> {
  for (const { tickets, mirror } of shops) {
    // A client who blocks the shop disappears from its tickets without a change of `updated_at`.
    const text = (ticket: Json) => JSON.stringify({ ...ticket, client: null })
    const copies = new Map(mirror.map((ticket: Json) => [ticket.id, text(ticket)]))
    for (const ticket of tickets)
      if (copies.get(ticket.id) !== text(ticket))
        yield `the copy of ticket ${ticket.number} is not as the shop has it: ${copies.get(ticket.id)} against ${JSON.stringify(ticket)}`
    if (mirror.length !== tickets.length) yield `${mirror.length} copies of ${tickets.length} tickets`
    const ids = tickets.map(({ id }) => id as string)
    for (const [i, id] of ids.entries()) if (i > 0 && id >= ids[i - 1]!) yield "the list is not the newest first"
  }
  for (const { query, status, response } of exchanges) {
    if (status !== 200 || !query.includes("updated_since")) continue
    const instants = response.data.map(({ updated_at }: Json) => Date.parse(updated_at))
    if (instants.some((instant: number, i: number) => i > 0 && instant < instants[i - 1]))
      yield `a page is out of order: ${query}`
  }
}
