import { createHmac } from "node:crypto"
import type { Commit, History, Json, ReceivedDelivery } from "./History.js"
import { HOUR, MINUTE, SECOND, START } from "./Simulation.js"

const DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR]
/** The largest difference between the clocks of nodes, apart from the periods in which all are hours ahead. */
const SKEW = 3 * SECOND
const LEASE = 15 * SECOND

const idOf = ({ body }: { readonly body: string }): string => JSON.parse(body).id
const ticketOf = ({ body }: { readonly body: string }): string | null => JSON.parse(body).data.ticket?.id ?? null

/** The periods of the faults with a name, such as "stopped", on one node or on any. */
const spansOf = ({ notes }: History, what: string | RegExp, node?: string) =>
  notes.flatMap((note) =>
    note.kind === "fault" &&
    (typeof what === "string" ? note.what === what : what.test(note.what)) &&
    (node === undefined || note.node === node)
      ? [note]
      : []
  )

/**
 * Every event arrives unchanged. The events of a ticket arrive in order and one at a time, and at most four of a shop
 * at the same time.
 */
export function* judgeDeliveries(history: History): Iterable<string> {
  for (const shop of history.shops) {
    const received = history.receptions.filter((reception) => reception.shop === shop.id)
    const events = history.commits.flatMap((commit) =>
      commit.kind === "event" && commit.shop === shop.id ? [commit] : []
    )
    const bodies = new Map(events.map((event) => [idOf(event), event.body]))
    const log = new Map(shop.deliveries.map((delivery: Json) => [delivery.event_id as string, delivery]))
    for (const one of received) {
      if (bodies.get(idOf(one)) !== one.body) yield `what arrived is not what was committed: ${one.body.slice(0, 200)}`
    }
    const setAt =
      history.commits.find((commit) => commit.kind === "webhook" && commit.shop === shop.id)?.at ??
      Number.POSITIVE_INFINITY
    for (const event of events) {
      if (event.at < setAt) continue
      const attempts = log.get(idOf(event))
      const arrived = received.filter(
        (one) => idOf(one) === idOf(event) && one.status !== null && one.status < 300 && one.ended_at !== null
      )
      if (attempts === undefined) yield `event ${idOf(event)} has no delivery`
      else if (attempts.state === "delivered" && !received.some((one) => idOf(one) === idOf(event)))
        yield `an event counts as delivered and never arrived`
      else if (attempts.state === "dead" && attempts.attempts.length < 8)
        yield `a delivery was given up after ${attempts.attempts.length} attempts`
      else if (attempts.state === "pending" || attempts.state === "parked")
        yield `event ${idOf(event)} (${JSON.parse(event.body).type}, committed at ${event.at} ms) is ${attempts.state} at the end, ${arrived.length} arrivals: ${JSON.stringify({ ...attempts, attempts: attempts.attempts.length })}`
    }
    yield* orderWrong(history, received, events)
    yield* crowdWrong(history, received)
    yield* logWrong(history, received, log)
    yield* waitsWrong(history, shop.id, received, events)
  }
}

const isAcknowledged = ({ status }: { readonly status: number | null }) =>
  status !== null && status >= 200 && status < 300

/** The first attempts at a ticket's events start in the order of the events. */
function* orderWrong(
  history: History,
  received: ReadonlyArray<ReceivedDelivery>,
  events: ReadonlyArray<{ readonly body: string; readonly at: number }>
): Iterable<string> {
  const firsts = new Map<string, number>()
  for (const one of received) if (!firsts.has(idOf(one))) firsts.set(idOf(one), one.started_at)
  const last = new Map<string, { readonly at: number; readonly id: string }>()
  for (const event of events) {
    const ticket = ticketOf(event)
    const first = firsts.get(idOf(event))
    if (ticket === null || first === undefined) continue
    const before = last.get(ticket)
    // The receivers do not see an attempt whose node died before the request reached them.
    const isBlurred = history.notes.some(
      (note) =>
        note.kind === "fault" &&
        (note.what === "killed" || note.what === "stopped" || note.what === "asleep" || note.what.startsWith("store"))
    )
    if (before !== undefined && first < before.at && !isBlurred)
      yield `event ${idOf(event)} overtook ${before.id} of its ticket`
    if (before === undefined || first > before.at) last.set(ticket, { at: first, id: idOf(event) })
  }
}

/** While no node is suspended or dies, one delivery of a ticket and four of a shop are in flight at a time. */
function* crowdWrong(history: History, received: ReadonlyArray<ReceivedDelivery>): Iterable<string> {
  const all = received.filter(({ isDouble }) => !isDouble)
  for (const [i, one] of all.entries()) {
    const until = one.ended_at ?? one.started_at
    // If a node died, was suspended or could not record an attempt, its claim ends only with the lease.
    const near = history.notes.some(
      (note) =>
        note.kind === "fault" &&
        /stopped|killed|store|asleep/.test(note.what) &&
        note.at - LEASE - SECOND < one.started_at &&
        note.until + LEASE + SECOND > one.started_at
    )
    if (near) continue
    const others = all.filter(
      (other, j) =>
        j !== i &&
        other.started_at >= one.started_at &&
        other.started_at < until &&
        (other.started_at > one.started_at || j > i)
    )
    const ticket = ticketOf(one)
    if (ticket !== null && others.some((other) => ticketOf(other) === ticket))
      yield `two deliveries of a ticket at once, at ${one.started_at} ms`
    const open = all.filter(
      (other) => other.started_at <= one.started_at && (other.ended_at ?? other.started_at) > one.started_at
    )
    if (open.length > 4) yield `${open.length} deliveries of a shop at once, at ${one.started_at} ms`
  }
}

/** Every attempt whose node got its outcome is logged once, with that outcome. */
function* logWrong(
  history: History,
  received: ReadonlyArray<ReceivedDelivery>,
  log: ReadonlyMap<string, Json>
): Iterable<string> {
  const dead = new Map(spansOf(history, "killed").map(({ node, at }) => [node, at]))
  const outages = spansOf(history, /^store (of the cell \w+ )?unavailable$/)
  const ended = received.filter(({ isDouble, ended_at }) => !isDouble && ended_at !== null)
  const byEvent = new Map<string, Array<ReceivedDelivery>>()
  for (const one of ended) byEvent.set(idOf(one), [...(byEvent.get(idOf(one)) ?? []), one])
  for (const [id, all] of byEvent) {
    const attempts: ReadonlyArray<Json> = log.get(id)?.attempts ?? []
    // The node may have died before it could record the attempt, or the store may have been unavailable for all its
    // tries.
    const isLost = ({ node, ended_at }: ReceivedDelivery) =>
      (dead.get(node) ?? Number.POSITIVE_INFINITY) <= ended_at! + 20 * SECOND ||
      outages.some(
        (outage) => outage.node === node && outage.at <= ended_at! + 20 * SECOND && outage.until >= ended_at!
      )
    const sure = all.filter((one) => !isLost(one))
    for (const status of new Set(sure.map((one) => one.status))) {
      const seen = sure.filter((one) => one.status === status).length
      const logged = attempts.filter((attempt) => attempt.status === status).length
      if (logged < seen) yield `${seen} attempts at ${id} ended with ${status}, and ${logged} of them are logged`
    }
    const max = received.filter((one) => !one.isDouble && idOf(one) === id).length
    if (attempts.length > max) yield `${attempts.length} attempts at ${id} are logged, and ${max} were made`
  }
}

/**
 * Retries follow the delays of the table. An event to a healthy receiver is sent immediately, even if clocks were wrong
 * before.
 */
function* waitsWrong(
  history: History,
  shop: string,
  received: ReadonlyArray<ReceivedDelivery>,
  events: ReadonlyArray<{ readonly body: string; readonly at: number }>
): Iterable<string> {
  const byEvent = new Map<string, Array<ReceivedDelivery>>()
  for (const one of received) if (!one.isDouble) byEvent.set(idOf(one), [...(byEvent.get(idOf(one)) ?? []), one])
  const anew = history.acts.filter(
    ({ act, shop: index }) =>
      (act === "replay" || act === "turn on" || act === "address") && history.shops[index]?.id === shop
  )
  const isBlurred = (from: number, until: number) =>
    history.notes.some(
      (note) => note.kind === "fault" && note.at <= until + SKEW && note.until + LEASE + 5 * SECOND >= from
    ) || anew.some((act) => act.at <= until && act.ended_at >= from - MINUTE && act.outcome !== "refused")
  for (const all of byEvent.values()) {
    for (const [i, one] of all.entries()) {
      const before = all[i - 1]
      if (before === undefined || before.ended_at === null || isAcknowledged(before)) continue
      if (isBlurred(before.started_at, one.started_at)) continue
      const waited = one.started_at - before.ended_at
      const min = DELAYS[Math.min(i - 1, DELAYS.length - 1)]!
      if (waited < Math.min(...DELAYS) - SKEW) yield `tried again ${waited} ms after a failure, attempt ${i + 1}`
      if (anew.length === 0 && waited < min - SKEW)
        yield `attempt ${i + 1} came ${waited} ms after a failure, before its ${min} ms`
    }
  }
  const isOn = (at: number): boolean => {
    const row = history.commits.findLast(
      (commit) => commit.kind === "webhook" && commit.shop === shop && commit.at <= at
    )
    return row?.kind === "webhook" && row.row.off_reason === null
  }
  for (const event of events) {
    if (!isOn(event.at) || !isOn(event.at + 4 * SECOND)) continue
    const isTroubled = history.notes.some(
      (note) =>
        note.kind === "fault" &&
        /store|stopped|killed|asleep/.test(note.what) &&
        note.at <= event.at + 4 * SECOND &&
        note.until + LEASE + 2 * SECOND >= event.at - LEASE
    )
    const isAhead = spansOf(history, "all clocks ahead").some(
      (note) => note.at <= event.at + 4 * SECOND && note.until + 5 * SECOND >= event.at
    )
    if (isTroubled || isAhead) continue
    // Another delivery of its ticket, or four of its shop, may delay the event.
    const isHeldUp = received.some(
      (one) => one.started_at <= event.at + 4 * SECOND && (one.ended_at ?? one.started_at + LEASE) > event.at + SECOND
    )
    const first = byEvent.get(idOf(event))?.[0]
    if (!isHeldUp && (first === undefined || first.started_at > event.at + 4 * SECOND + 1500))
      yield `event ${idOf(event)} (${JSON.parse(event.body).type}) waited ${first === undefined ? "for ever" : `${first.started_at - event.at} ms`} from ${event.at} ms although nothing was in its way`
  }
}

/** Every delivery is signed with the current time and the secrets that are valid then. */
export function* judgeSignatures(history: History): Iterable<string> {
  for (const { id } of history.shops) {
    const rows = history.commits.flatMap((commit) => (commit.kind === "webhook" && commit.shop === id ? [commit] : []))
    for (const reception of history.receptions) {
      if (reception.shop !== id) continue
      const [, t, values] = /^t=(\d{1,11}),(v1=.*)$/.exec(reception.signature ?? "") ?? []
      if (t === undefined || values === undefined) {
        yield `a signature cannot be read: ${reception.signature}`
        continue
      }
      const signatures = values.split(",").map((value) => value.slice(3))
      const secrets = new Set(rows.map(({ row }) => row.secret as string))
      const by = signatures.map((value) =>
        [...secrets].find(
          (secret) => createHmac("sha256", secret).update(`${t}.${reception.body}`).digest("hex") === value
        )
      )
      if (by.includes(undefined)) {
        yield `a signature is made with no secret of the shop: ${reception.signature}`
        continue
      }
      // A node that was suspended sends the signature that it made before, with the secrets of its claim.
      const isStale = [...spansOf(history, "stopped", reception.node), ...spansOf(history, "asleep")].some(
        (note) => note.at <= reception.at && note.until + 10 * SECOND >= reception.started_at
      )
      const isAhead = spansOf(history, "all clocks ahead").some(
        (note) => note.at - SECOND <= reception.started_at && note.until + SECOND >= reception.started_at
      )
      const off = Math.abs(Number(t) * SECOND - (START + reception.started_at))
      if (off > SKEW && !isAhead && !isStale) yield `a signature is ${off} ms from its time`
      if (isStale || isAhead) continue
      const last = rows.findLastIndex((row) => row.at <= reception.started_at + 1)
      const changed = rows.findLast((row, i) => i <= last && i > 0 && rows[i - 1]!.row.secret !== row.row.secret)
      const isNear = rows.some((row) => Math.abs(row.at - reception.started_at) < 2 * SECOND)
      if (isNear) continue
      const current = rows[last]?.row.secret
      if (by[0] !== current) yield `a delivery at ${reception.started_at} ms is not signed with the current secret`
      const age = changed === undefined ? Number.POSITIVE_INFINITY : reception.started_at - changed.at
      const wasAhead = spansOf(history, "all clocks ahead").length > 0
      if (age < 24 * HOUR - SKEW && by.length !== 2 && !wasAhead)
        yield `the secret before does not sign ${age} ms after the change`
      if (age > 24 * HOUR + SKEW && by.length !== 1 && !wasAhead)
        yield `the secret before still signs ${age} ms after the change`
    }
  }
}

/**
 * True if a ticket left the state about which a notification was raised. The service does not send such a notification.
 */
const hasLeft = (commits: ReadonlyArray<Commit>, { ticket_id, type }: Json): boolean =>
  commits.some((commit) => {
    if (commit.kind !== "event" || ticketOf(commit) !== ticket_id) return false
    return `ticket.${JSON.parse(commit.body).data.ticket.state}` !== type
  })

/**
 * A webhook turns off after a 410 from its address, or after twenty failures over 72 hours. Owners and clients are
 * notified.
 */
export function* judgeHealth(history: History): Iterable<string> {
  for (const shop of history.shops) {
    const rows = history.commits.flatMap((commit) =>
      commit.kind === "webhook" && commit.shop === shop.id ? [commit] : []
    )
    let offs = 0
    for (const [i, { at, row }] of rows.entries()) {
      const before = rows[i - 1]?.row
      if (before !== undefined && before.url !== row.url && row.failures_in_row > 0)
        yield `another address begins with ${row.failures_in_row} failures`
      if (before === undefined || before.off_reason !== null || row.off_reason === null) continue
      if (row.off_reason === "disabled") continue
      offs++
      const gone = history.receptions.some(
        (reception) =>
          reception.shop === shop.id &&
          reception.url === row.url &&
          reception.status === 410 &&
          reception.ended_at !== null &&
          reception.ended_at <= at
      )
      if (row.off_reason === "gone" && !gone) yield `turned off as gone at ${at} ms without a 410 from ${row.url}`
      if (row.off_reason === "failing" && row.failures_in_row < 20)
        yield `turned off after ${row.failures_in_row} failures`
    }
    const notices = shop.notices.filter(({ kind }: Json) => kind === "webhook_off").length
    if (notices !== offs) yield `turned off ${offs} times, and the owner was notified ${notices} times`
    // A 410 from the current address turns the webhook off, even if another attempt at the delivery succeeded.
    const dead = new Map(spansOf(history, "killed").map(({ node, at }) => [node, at]))
    for (const reception of history.receptions) {
      if (reception.shop !== shop.id || reception.status !== 410 || reception.ended_at === null || reception.isDouble)
        continue
      if ((dead.get(reception.node) ?? Number.POSITIVE_INFINITY) < reception.ended_at + 20 * SECOND) continue
      const from = rows.findLastIndex(({ at }) => at <= reception.started_at)
      const recorded = history.commits.find(
        (commit) =>
          commit.kind === "attempt" &&
          commit.shop === shop.id &&
          commit.row.event_id === idOf(reception) &&
          commit.at >= reception.ended_at! &&
          commit.row.status === 410
      )
      if (recorded === undefined) {
        yield `the 410 at ${reception.ended_at} ms was never recorded`
        continue
      }
      const then = rows.findLast(({ at }) => at <= recorded.at + 1)
      const isMeant = from >= 0 && then?.row.url === reception.url
      const wasOff = rows
        .slice(Math.max(0, from))
        .some(({ at, row }) => at <= recorded.at + 1 && row.off_reason !== null)
      if (isMeant && !wasOff) yield `a 410 recorded at ${recorded.at} ms did not turn the webhook off`
    }
  }
  const notified = new Set(history.notes.flatMap((note) => (note.kind === "notified" ? [note.id] : [])))
  const blocked = new Set(
    history.acts.flatMap(({ act, shop, outcome }) =>
      act === "block" && outcome !== "refused" ? [history.shops[shop]?.id] : []
    )
  )
  for (const [place, { kind, shop, ...commit }] of history.commits.entries()) {
    if (kind !== "message" || !("row" in commit) || notified.has(commit.row.id)) continue
    if (commit.row.to === "client" && hasLeft(history.commits.slice(place), commit.row)) continue
    // The service does not notify a walk-in with the phone number of a client who blocks the shop.
    const isWalkIn = commit.row.to === "client" && commit.row.client_id === null
    if (!(isWalkIn && blocked.has(shop)))
      yield `a notification to the ${commit.row.to} never came: ${commit.row.kind ?? commit.row.type}`
  }
}
