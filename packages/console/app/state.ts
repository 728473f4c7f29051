import { batch, computed, effect, signal } from "@preact/signals"
import { type Answer, isGone, read, refusalOf, SILENT, send } from "./api.js"
import { dayIn, shortIn } from "./format.js"
import type {
  Client,
  Delivery,
  Due,
  Fault,
  History,
  Json,
  Key,
  Limit,
  Move,
  ReceivedEvent,
  Receiver,
  Shop,
  State,
  Ticket,
  Webhook
} from "./model.js"
import { plainName } from "./record.js"

export const shops = signal<ReadonlyArray<Shop>>([])
export const shopId = signal<string | null>(null)
export const shop = computed(() => shops.value.find(({ id }) => id === shopId.value) ?? null)
export const zone = computed(() => shop.value?.time_zone ?? "UTC")

/** The sandbox's clock as it was last read, with the time of the reading on the browser's clock. */
export const clock = signal({ now: 0, frozen: true, frozen_by: null as string | null, ahead_ms: 0, read_at: 0 })
const beat = signal(0)
setInterval(() => {
  if (!clock.peek().frozen) beat.value++
}, 1000)
/** The current time of the sandbox. */
export const present = computed(() => {
  beat.value
  const { now, frozen, read_at } = clock.value
  return frozen ? now : now + (performance.now() - read_at)
})

const today = computed(() => dayIn(zone.value, present.value))
/** An instant in the shop's time zone: its time, and its day unless that is today. */
export const when = (iso: string): string => {
  today.value
  return shortIn(zone.value, Date.parse(iso), present.peek())
}

export const agenda = signal<ReadonlyArray<Due>>([])
/**
 * Whether the agenda also shows limits that start again. By default it does not, because they would hide the other
 * entries.
 */
export const isLimitDue = signal(false)
export const dues = computed(() => agenda.value.filter(({ kind }) => isLimitDue.value || kind !== "limit_reset"))

export const tickets = signal<ReadonlyArray<Ticket>>([])
export const stateFilter = signal<State | null>(null)
export const search = signal("")
export const isBoard = signal(false)
export const ticketId = signal<string | null>(null)
export const history = signal<History | null>(null)
export const moves = signal<ReadonlyArray<Move>>([])
export const deliveries = signal<ReadonlyArray<Delivery>>([])
export const webhook = signal<Webhook | null>(null)
export const receiver = signal<Receiver | null>(null)
export const received = signal<ReadonlyArray<ReceivedEvent>>([])
export const faults = signal<ReadonlyArray<Fault>>([])
export const limits = signal<ReadonlyArray<Limit>>([])
export const clients = signal<ReadonlyArray<Client>>([])
export const keys = signal<ReadonlyArray<Key>>([])
export const key = signal<{ readonly id: string; readonly text: string } | null>(null)

/** The chosen ticket. */
export const ticket = computed(
  () => (history.value?.ticket.id === ticketId.value ? history.value?.ticket : null) ?? null
)

/** The areas of the page: side by side on a wide screen, one at a time on a phone. */
export type Area = "tickets" | "ticket" | "live" | "webhook" | "api" | "record"
export const area = signal<Area>("tickets")
/** The area at the right of a wide screen. */
export const side = signal<Exclude<Area, "tickets" | "ticket">>("live")

/** Shows an area, on a screen of any width. */
export const show = (next: Area): void => {
  area.value = next
  if (next !== "tickets" && next !== "ticket") side.value = next
}

/** The notice about the outcome of the last act. */
export const notice = signal<{ readonly text: string; readonly ok: boolean; readonly n: number } | null>(null)
let said = 0
/** Shows a notice about the outcome of an act. */
export const say = (text: string, ok = true): undefined => {
  notice.value = { text, ok, n: ++said }
}

effect(() => {
  // The notice is removed, because the server responds again.
  if (!isGone.value && notice.peek()?.text === SILENT) notice.value = null
})

/** Whether this console records. */
export const isRecording = signal(false)

/** The recording that froze the clock, if the tester has allowed this console to move it. */
let allowed_by: string | null = null

/** Reads the clock's state from a response. */
export const setClock = ({ now, frozen, frozen_by, ahead_ms }: Json): void => {
  if (frozen_by === null) allowed_by = null
  clock.value = { now: Date.parse(now), frozen, frozen_by, ahead_ms, read_at: performance.now() }
}

const keep = <A>(target: { value: A }, next: A | undefined): void => {
  if (next !== undefined) target.value = next
}

const loadTicket = async (): Promise<void> => {
  const id = ticketId.peek()
  if (id === null) return
  const [story, accepted, sent] = await Promise.all([
    read<History>(`/tickets/${id}/history`),
    read<ReadonlyArray<Move>>(`/tickets/${id}/moves`),
    read<ReadonlyArray<Delivery>>(`/shops/${shopId.peek()}/deliveries?ticket=${id}`)
  ])
  if (id !== ticketId.peek()) return
  batch(() => {
    keep(history, story)
    keep(moves, accepted)
    keep(deliveries, sent)
  })
}

const loadTickets = async (): Promise<void> => {
  const asked = new URLSearchParams()
  if (stateFilter.peek() !== null) asked.set("state", stateFilter.peek()!)
  if (search.peek().trim() !== "") asked.set("q", search.peek().trim())
  const id = shopId.peek()
  const listed = await read<ReadonlyArray<Ticket>>(`/shops/${id}/tickets?limit=200&${asked}`)
  if (id === shopId.peek()) keep(tickets, listed)
}

const loadShop = async (): Promise<void> => {
  const id = shopId.peek()
  const path = `/shops/${id}`
  const [due, hook, behaviour, gauges, set, all] = await Promise.all([
    read<ReadonlyArray<Due>>(`/agenda?shop=${id}&limit=50`),
    read<Webhook>(`${path}/webhook`),
    read<Receiver>(`${path}/receiver`),
    read<ReadonlyArray<Limit>>(`${path}/limits`),
    read<ReadonlyArray<Fault>>("/faults"),
    read<ReadonlyArray<Client>>(`${path}/clients`)
  ])
  const newest = received.peek().at(-1)?.id
  const got = await read<ReadonlyArray<ReceivedEvent>>(
    `${path}/received${newest === undefined ? "" : `?after=${newest}`}`
  )
  if (id !== shopId.peek()) return
  batch(() => {
    keep(agenda, due)
    keep(webhook, hook)
    keep(receiver, behaviour)
    keep(limits, gauges)
    keep(faults, set)
    keep(clients, all)
    if (got !== undefined && got.length > 0) received.value = [...received.peek(), ...got].slice(-500)
  })
}

const loadClock = async (): Promise<void> => {
  const moved = await read<Json>("/clock")
  if (moved !== undefined) setClock(moved)
}

/** The least time between two reads, in milliseconds. */
const REST_MS = 120
let isReading = false
let isStale = false

/** Reads everything again, after a short wait. Calls during the wait cause only one read. */
export const refresh = async (): Promise<void> => {
  isStale = true
  if (isReading || shopId.peek() === null) return
  isReading = true
  while (isStale) {
    isStale = false
    await Promise.all([loadClock(), loadTickets(), loadTicket(), loadShop()])
    await new Promise((resolve) => setTimeout(resolve, REST_MS))
  }
  isReading = false
}

/** Chooses a ticket. */
export const open = (id: string | null): void => {
  ticketId.value = id
  remember()
  if (id !== null) {
    area.value = "ticket"
    // The board is closed, because the ticket takes its place.
    isBoard.value = false
    void loadTicket()
  }
}

/** Writes the shop and the ticket to the page's address, so that it can be shared and reloaded. */
const remember = (): void => {
  window.history.replaceState(null, "", `#${[shopId.peek(), ticketId.peek()].filter(Boolean).join("/")}`)
}

const ALL_SCOPES = 4

/** Loads a key with which the console calls the API: one that the sandbox knows, otherwise its own. */
const loadKey = async (): Promise<void> => {
  const id = shopId.peek()
  const listed = (await read<ReadonlyArray<Key>>(`/shops/${id}/keys`)) ?? []
  keys.value = listed
  for (const one of listed.filter(({ revoked_at, scopes }) => revoked_at === null && scopes.length === ALL_SCOPES)) {
    const text = await read<{ key: string | null }>(`/keys/${one.id}/text`)
    if (text?.key) {
      key.value = { id: one.id, text: text.key }
      return
    }
  }
  const created = await send("POST", `/sandbox/shops/${id}/keys`, { body: { name: "console", preset: "full" } })
  if (!created.ok)
    return say(
      `The console has no API key for this shop, and could not create one (${refusalOf(created)}). Revoke one of the shop's keys.`,
      false
    )
  key.value = { id: created.data.id, text: created.data.key }
  keys.value = (await read<ReadonlyArray<Key>>(`/shops/${id}/keys`)) ?? listed
}

let isKeyed: Promise<void> = Promise.resolve()

/** Clears the data of the shop that was chosen before. */
const forget = (): void =>
  batch(() => {
    shopId.value = null
    ticketId.value = null
    for (const list of [received, deliveries, tickets, agenda, limits, clients, moves]) list.value = []
    for (const one of [history, webhook, receiver, key]) one.value = null
    search.value = ""
    stateFilter.value = null
    void loadClock()
  })

/** Chooses a shop. */
export const choose = async (id: string, ticket: string | null = null): Promise<void> => {
  batch(() => {
    forget()
    shopId.value = id
    ticketId.value = ticket
  })
  remember()
  isKeyed = loadKey()
  await Promise.all([refresh(), isKeyed])
}

/** Reads the shops, and chooses one if none is chosen yet. */
export const loadShops = async (): Promise<void> => {
  const all = await read<ReadonlyArray<Shop>>("/shops")
  if (all === undefined) return
  // The closed shop of a recording is not chosen.
  const open = all.filter(({ name, active }) => active || plainName(name) === name)
  shops.value = open
  if (open.some(({ id }) => id === shopId.peek())) return
  const [wanted, ticket] = location.hash.slice(1).split("/")
  const named = open.find(({ id }) => id === wanted)
  // The first shop is the one whose key the server printed when it started.
  const chosen = named ?? open[0]
  if (chosen === undefined) return forget()
  await choose(chosen.id, named === undefined ? null : (ticket ?? null))
}

/** The functions that are called with the response of every act, such as the recorder's function. */
export const actListeners = new Set<(answer: Answer) => void>()

const notifyListeners = (answer: Answer): Answer => {
  for (const witness of actListeners) witness(answer)
  return answer
}

/** Performs an act through the sandbox, and shows a notice about the outcome. */
export const act = async (method: string, path: string, body?: Json, done?: string): Promise<Answer> => {
  notice.value = null
  const answer = notifyListeners(await send(method, `/sandbox${path}`, { body }))
  if (!answer.ok) say(refusalOf(answer), false)
  else if (done !== undefined) say(done)
  void refresh()
  return answer
}

/** Whether the response to the next call is lost, so that the call must be repeated. */
export const losesAnswer = signal(false)

/** Calls the API as the shop's till does, with its key. */
export const callApi = async (method: string, path: string, body?: Json, done?: string): Promise<Answer> => {
  notice.value = null
  await isKeyed
  const headers = { "Idempotency-Key": `console-${crypto.randomUUID()}` }
  const ask = () => send(method, path, { body, headers, bearer: key.peek()?.text ?? "" })
  let lost = ""
  let first: Answer | null = null
  if (losesAnswer.peek()) {
    losesAnswer.value = false
    const pattern = path.replace(/[0-9a-f-]{36}/, "{id}")
    const others = faults.peek().map(({ id: _, ...rest }) => rest)
    const body = { faults: [{ method, path: pattern, fault: "lose_answer", next: 1 }, ...others] }
    notifyListeners(await send("PUT", "/sandbox/faults", { body }))
    first = await ask()
    notifyListeners({ ...first, status: 0, ok: false })
    lost = "The first response was lost. The repeated request got "
  }
  // A browser may itself repeat a request on a kept connection. That repetition counts as the second request.
  const answer = notifyListeners(first !== null && first.status !== 0 ? first : await ask())
  const replayed = answer.body?.meta?.replayed === true ? ", replayed" : ""
  if (!answer.ok) say(`${lost}${refusalOf(answer)}`, false)
  else if (done !== undefined || lost !== "") say(`${lost}${lost === "" ? done : `${answer.status}${replayed}`}`)
  void refresh()
  return answer
}

const mayMove = (): boolean => {
  const { frozen_by } = clock.peek()
  if (frozen_by === null || frozen_by === allowed_by || isRecording.peek()) return true
  if (!confirm(`The clock is frozen by ${frozen_by}, and each move would become a step of it. Move the clock?`))
    return false
  allowed_by = frozen_by
  return true
}

/**
 * Moves the clock. Asks first, but only once, if another console's recording needs the clock; null if the tester
 * declines.
 */
export const moveClock = async (body: Json, done?: string): Promise<Answer | null> => {
  if (!("freeze" in body) && !mayMove()) return null
  const answer = await act("POST", "/clock", body, done)
  if (answer.ok) setClock(answer.data)
  return answer
}
