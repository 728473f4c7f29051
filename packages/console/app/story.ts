import type { Delivery, Entry, History, State } from "./model.js"
import type { Anchor } from "./scale.js"

/** An entry of a history with its number among the entries of the same instant. */
export interface PlacedEntry {
  readonly entry: Entry
  readonly at: number
  readonly slot: number
}

/** A period in which the ticket was in one state. */
export interface Stay {
  readonly state: State
  readonly from: { readonly at: number; readonly slot: number }
  readonly to: { readonly at: number; readonly slot: number } | null
}

/** A ticket's story, arranged for the picture. */
export interface Story {
  readonly placed: ReadonlyArray<PlacedEntry>
  readonly stays: ReadonlyArray<Stay>
  readonly coming: ReadonlyArray<{ readonly at: number; readonly text: string; readonly event_id: string | null }>
  readonly anchors: ReadonlyArray<Anchor>
  /** Whether a later event is still possible. */
  readonly isGoingOn: boolean
}

const causes: ReadonlyArray<readonly [RegExp, RegExp]> = [
  [/\/v1\/tickets$/, /^ticket\.created$/],
  [/\/status$/, /^ticket\.(ready|impossible|collected|reopened)$/],
  [/\/notified$/, /^ticket\.notified$/]
]

/** Whether a request may have raised an event. */
const mayHaveRaised = ({ detail }: Entry, event: Entry): boolean =>
  detail.status < 300 &&
  !detail.replayed &&
  detail.method === "POST" &&
  causes.some(([path, type]) => path.test(detail.path) && type.test(event.title))

/** The entries of one instant, in their order as far as it is known, each with its slot. */
const slotsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<readonly [Entry, number]> => {
  const of = (kind: Entry["kind"]) => entries.filter((entry) => entry.kind === kind)
  const [requests, events, states] = [of("request"), of("event"), of("state")]
  const slots: Array<readonly [Entry, number]> = []
  const slotOfEvent = new Map<string, number>()
  let slot = 0
  let next = 0
  const takeEvent = () => {
    const event = events[next++]!
    slotOfEvent.set(event.id, slot)
    slots.push([event, slot])
    const state = states.find(({ id }) => id === `${event.id} state`)
    if (state !== undefined) slots.push([state, slot])
  }
  for (const request of requests) {
    const target = events.findIndex((event, i) => i >= next && mayHaveRaised(request, event))
    while (target >= 0 && next < target) {
      takeEvent()
      slot++
    }
    slots.push([request, slot])
    if (target >= 0) takeEvent()
    slot++
  }
  while (next < events.length) {
    takeEvent()
    slot++
  }
  const taken = new Set<number>()
  for (const entry of of("attempt")) {
    const wanted = slotOfEvent.get(entry.detail.event_id) ?? 0
    const place = taken.has(wanted) ? Math.max(...taken) + 1 : wanted
    taken.add(place)
    slots.push([entry, place])
  }
  const last = Math.max(-1, ...slots.map(([, place]) => place))
  for (const [i, entry] of of("notice").entries())
    slots.push([entry, Math.max(0, last + (requests.length > 0 ? 1 : 0)) + i])
  return slots
}

const DAY_MS = 86_400_000

/** Arranges a ticket's story for the picture. */
export const storyOf = (history: History, deliveries: ReadonlyArray<Delivery>, now: number): Story => {
  const instants = new Map<number, Array<Entry>>()
  for (const entry of history.entries) {
    const at = Date.parse(entry.at)
    instants.set(at, [...(instants.get(at) ?? []), entry])
  }
  const placed: Array<PlacedEntry> = []
  const slots = new Map<number, number>()
  for (const [at, entries] of instants) {
    for (const [entry, slot] of slotsOf(entries)) {
      placed.push({ entry, at, slot })
      slots.set(at, Math.max(slots.get(at) ?? 1, slot + 1))
    }
  }
  const states = placed.filter(({ entry }) => entry.kind === "state")
  const stays = states.map(
    ({ entry, at, slot }, i): Stay => ({
      state: entry.title as State,
      from: { at, slot },
      to: states[i + 1] === undefined ? null : { at: states[i + 1]!.at, slot: states[i + 1]!.slot }
    })
  )
  const coming = deliveries
    .filter(({ state, next_attempt_at }) => state === "pending" && next_attempt_at !== null)
    .map(({ next_attempt_at, type, event_id }) => ({
      at: Date.parse(next_attempt_at!),
      text: `next attempt of ${type}`,
      event_id
    }))
    .filter(({ at }) => at >= now)
  const ends = history.windows.flatMap(({ from, to }) => [Date.parse(from), Date.parse(to)])
  const later = [...coming.map(({ at }) => at), ...ends]
  const isGoingOn = later.some((at) => at > now)
  // If no event is to come, the picture has one more day, so that the line of the current time can be dragged there.
  const farthest = isGoingOn ? Math.max(...later) : now + DAY_MS
  const all = [...new Set([...slots.keys(), now, ...later, farthest])].sort((a, b) => a - b)
  const anchors = all.map((at) => ({ at, slots: slots.get(at) ?? 1 }))
  return { placed, stays, coming, anchors, isGoingOn }
}
