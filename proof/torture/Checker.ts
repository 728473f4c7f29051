import type { Arrival, Json, LoadedShop, Operation } from "./Load.js"

/** The state of a shop at the end of a run. */
export interface ShopEnd {
  readonly tickets: ReadonlyArray<Json>
  readonly events: ReadonlyArray<Json>
  readonly deliveries: ReadonlyArray<Json>
  readonly card: Json
}

const moves: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  workshop: { ready: "ticket.ready", impossible: "ticket.impossible" },
  ready: { collected: "ticket.collected", workshop: "ticket.reopened" },
  impossible: { collected: "ticket.collected", workshop: "ticket.reopened" },
  collected: { workshop: "ticket.reopened" }
}

const isGood = ({ status }: Operation): boolean => status !== null && status < 300

/** Groups operations by their Idempotency-Key. An operation without a key is a separate group. */
const grouped = (operations: ReadonlyArray<Operation>): ReadonlyArray<ReadonlyArray<Operation>> => {
  const groups = new Map<string, Array<Operation>>()
  for (const [i, one] of operations.entries()) {
    const name = one.idempotency_key ?? `${i}`
    groups.set(name, [...(groups.get(name) ?? []), one])
  }
  return [...groups.values()]
}

function* checkCreates(operations: ReadonlyArray<Operation>, { tickets, events }: ShopEnd): Iterable<string> {
  const byRef = new Map<string, Array<Json>>()
  for (const ticket of tickets) byRef.set(ticket.external_ref, [...(byRef.get(ticket.external_ref) ?? []), ticket])
  const numbers = new Map<string, { readonly number: number; readonly began: number; readonly ended: number }>()
  for (const group of grouped(operations.filter(({ kind }) => kind === "create"))) {
    const made = byRef.get(group[0]!.idempotency_key!) ?? []
    const good = group.filter(isGood)
    if (made.length > 1) yield `one key made ${made.length} tickets: ${group[0]!.idempotency_key}`
    if (good.length > 0 && made.length === 0)
      yield `an acknowledged ticket is gone: ${JSON.stringify(good[0]!.response.data).slice(0, 200)}`
    for (const one of good) {
      if (one.response.data.id !== made[0]?.id)
        yield `a repetition was answered with another ticket: ${one.idempotency_key}`
      numbers.set(one.response.data.id, {
        number: one.response.data.number,
        began: group[0]!.began,
        ended: Math.min(...good.map(({ ended }) => ended))
      })
    }
  }
  const all = tickets.map(({ number }) => number as number).sort((a, b) => a - b)
  for (const [i, number] of all.entries()) if (number !== i + 1) yield `number ${number} where ${i + 1} is next`
  const known = [...numbers.values()].sort((a, b) => a.ended - b.ended)
  let highest = 0
  // If a create got its response before another one began, its ticket must have the smaller number.
  for (const one of [...known].sort((a, b) => a.began - b.began)) {
    highest = Math.max(highest, ...known.filter(({ ended }) => ended < one.began).map(({ number }) => number))
    if (one.number < highest) yield `ticket ${one.number} was begun after ticket ${highest} was answered`
  }
  const created = events.filter(({ type }) => type === "ticket.created")
  if (created.length !== tickets.length) yield `${created.length} ticket.created of ${tickets.length} tickets`
}

function* checkHistories(operations: ReadonlyArray<Operation>, { tickets, events }: ShopEnd): Iterable<string> {
  const ofTicket = new Map<string, Array<Json>>()
  let latest = 0
  for (const event of events) {
    if (Date.parse(event.created_at) < latest) yield `time went back at event ${event.id}`
    latest = Date.parse(event.created_at)
    const id = event.data.ticket?.id
    if (id !== undefined) ofTicket.set(id, [...(ofTicket.get(id) ?? []), event])
  }
  for (const ticket of tickets) {
    const all = ofTicket.get(ticket.id) ?? []
    let state: string | null = null
    for (const { type, data } of all) {
      const to: string = data.ticket.state
      if (type === "ticket.created") state = "workshop"
      else if (/^ticket\.(ready|impossible|collected|reopened)$/.test(type)) {
        if (state === null || moves[state]?.[to] !== type) yield `${type} from ${state} to ${to}`
        state = to
      }
    }
    if (state !== ticket.state) yield `ticket ${ticket.number} is ${ticket.state}, and its events leave it ${state}`
    const asked = grouped(
      operations.filter((operation) => operation.kind === "status" && operation.ticket === ticket.id)
    )
    for (const to of ["ready", "impossible", "collected", "workshop"]) {
      const type = to === "workshop" ? "ticket.reopened" : `ticket.${to}`
      const raised = all.filter((event) => event.type === type).length
      const sure = asked.filter((group) => group[0]!.to === to && group.some(isGood)).length
      const perhaps = asked.filter(
        (group) =>
          group[0]!.to === to && !group.some(isGood) && group.some(({ status }) => status === null || status === 503)
      ).length
      if (raised < sure) yield `${sure} changes to ${to} were acknowledged, and ${raised} events raised`
      if (raised > sure + perhaps)
        yield `${raised} events ${type}, where ${sure} were acknowledged and ${perhaps} may have been`
    }
  }
}

function* checkArrivals({ events, deliveries }: ShopEnd, arrivals: ReadonlyArray<Arrival>): Iterable<string> {
  const bodies = new Map<string, Array<Arrival>>()
  for (const arrival of arrivals) bodies.set(arrival.id, [...(bodies.get(arrival.id) ?? []), arrival])
  const states = new Map(deliveries.map((delivery) => [delivery.event_id as string, delivery.state as string]))
  for (const event of events) {
    const bodiesOfEvent = bodies.get(event.id) ?? []
    if (states.get(event.id) === "delivered" && bodiesOfEvent.length === 0)
      yield `event ${event.id} counts as delivered and never arrived`
    if (states.get(event.id) !== "delivered") yield `event ${event.id} is ${states.get(event.id)} at the end`
    const texts = new Set(bodiesOfEvent.map(({ body }) => body))
    if (texts.size > 1) yield `event ${event.id} arrived with ${texts.size} texts`
    if (bodiesOfEvent[0] !== undefined && JSON.stringify(JSON.parse(bodiesOfEvent[0].body)) !== JSON.stringify(event))
      yield `event ${event.id} arrived otherwise than it is listed`
  }
}

/** Checks a history against the specification, without code of the service. Returns the violations in words. */
export const check = (
  operations: ReadonlyArray<Operation>,
  shops: ReadonlyArray<LoadedShop>,
  ends: ReadonlyArray<ShopEnd>,
  arrivals: ReadonlyArray<Arrival>
): ReadonlyArray<string> => {
  const violations: Array<string> = []
  for (const [index, end] of ends.entries()) {
    const ofShop = operations.filter(({ shop }) => shop === index)
    for (const one of ofShop)
      if (one.status !== null && one.status >= 500 && one.status !== 503)
        violations.push(`${one.kind} was answered ${one.status}: ${JSON.stringify(one.response)}`)
    violations.push(...checkCreates(ofShop, end), ...checkHistories(ofShop, end), ...checkArrivals(end, arrivals))
    const { mirror } = shops[index]!
    for (const ticket of end.tickets)
      if (JSON.stringify(mirror.get(ticket.id)) !== JSON.stringify(ticket))
        violations.push(`the till's copy of ticket ${ticket.number} is not as the shop has it`)
    if (mirror.size !== end.tickets.length)
      violations.push(`the till has ${mirror.size} of ${end.tickets.length} tickets`)
    const stamps = grouped(ofShop.filter(({ kind }) => kind === "stamps"))
    const sure = stamps.filter((group) => group.some(isGood)).length
    const perhaps = stamps.filter(
      (group) => !group.some(isGood) && group.some(({ status }) => status === null || status === 503)
    ).length
    const earned = new Set(
      end.events.flatMap(({ type, data }) =>
        data.ticket?.client != null && /ticket\.(ready|collected)/.test(type) ? [data.ticket.id] : []
      )
    ).size
    const lifetime = end.card.card.lifetime
    if (lifetime < sure || lifetime > sure + perhaps + earned)
      violations.push(
        `a card has ${lifetime} stamps, where ${sure} to ${sure + perhaps} were given and at most ${earned} earned`
      )
  }
  const ids = new Set(ends.flatMap(({ events }) => events.map(({ id }) => id as string)))
  for (const { id } of arrivals) if (!ids.has(id)) violations.push(`event ${id} arrived, and no shop has it`)
  return violations
}
