import { computed, signal } from "@preact/signals"
import { addressOf, read, send, token } from "./api.js"
import { exactDuration } from "./format.js"
import type { Delivery, Json, LoggedRequest, Shop } from "./model.js"
import { loadShops, refresh, say, setClock, shopId, shops } from "./state.js"

export const feedKinds = ["request", "event", "attempt", "notice", "clock", "fault", "receiver"] as const
export type FeedKind = (typeof feedKinds)[number]

/** A row of the feed. */
export interface Row {
  readonly id: number
  readonly kind: FeedKind
  readonly at: string
  readonly shop_id: string | null
  readonly text: string
  readonly mark: string
  /** The reason of a refusal, and anything else that is unusual. */
  readonly why: string
  readonly ok: boolean
  readonly detail: Json
}

const KEPT = 5000
let rows: Array<Row> = []
/** A number that increases when rows are added. */
const version = signal(0)

/** The kinds that are shown; all kinds if none is chosen. */
export const chosen = signal<ReadonlySet<FeedKind>>(new Set())

/** The rows of the chosen shop, newest first. */
export const shownRows = computed(() => {
  version.value
  const [wanted, of] = [chosen.value, shopId.value]
  return rows.filter(
    ({ kind, shop_id }) => (wanted.size === 0 || wanted.has(kind)) && (shop_id === null || shop_id === of)
  )
})

/** Whether the stream is open, or the console polls. */
export const link = signal<"streaming" | "polling" | "connecting">("connecting")

/** When the process that sends the stream started; undefined until the stream reports it. */
export const startedAt = signal<string | undefined>(undefined)

/** The functions that are called with every logged request to the API. */
export const listeners = new Set<(request: LoggedRequest) => void>()

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g
/** The numbers of the known tickets by id, which replace ids in paths. */
const numbers = new Map<string, string>()

/** A path for people: without the version, and with the number of a ticket in place of its id. */
const readablePath = (path: string): string =>
  path.replace(/^\/v1/, "").replaceAll(UUID, (id) => numbers.get(id) ?? `…${id.slice(-4)}`)

/** A word for what a body requests. */
const wishOf = (body: string | null): string => {
  const detail = /"(?:status|channel|service)":\s*"([^"]{1,40})"/.exec(body ?? "")?.[1]
  return detail === undefined ? "" : ` ${detail}`
}

/** The types of the events by id, which name the attempts to send them. */
const events = new Map<string, string>()

/** The descriptions of the faults that a request met. */
const metWords: Readonly<Record<string, string>> = { lose_answer: "response lost", delay: "delayed" }

const plain = (word: string): string => word.replaceAll("_", " ").toLowerCase()

type RowContent = Pick<Row, "at" | "text" | "mark" | "ok"> & { readonly shop_id?: string | null; readonly why?: string }

const rowOf: Readonly<Record<FeedKind, (data: Json) => RowContent>> = {
  request: ({ at, shop_id, method, path, status, code, reason, replayed, fault, request }: LoggedRequest) => {
    const met = fault === null ? null : (metWords[fault] ?? "fault")
    return {
      ...{ at, shop_id, mark: String(status), ok: status < 400 && fault !== "lose_answer" },
      text: `${method} ${readablePath(path)}${wishOf(request.body)}`,
      why: [met, reason ?? code, replayed ? "replayed" : null].flatMap((word) => (word ? [plain(word)] : [])).join(", ")
    }
  },
  event: ({ id, type, created_at, shop_id, data }) => {
    const name = `${type}${data.ticket === undefined ? "" : ` ${data.ticket.number_label}`}`
    events.set(id, name)
    if (data.ticket !== undefined) numbers.set(data.ticket.id, data.ticket.number_label)
    return { at: created_at, shop_id, text: name, mark: "", ok: true }
  },
  attempt: ({ started_at, shop_id, event_id, n, status, error }) => ({
    ...{ at: started_at, shop_id, ok: status !== null && status >= 200 && status < 300 },
    text: `attempt ${n} of ${events.get(event_id) ?? "an event"}`,
    mark: String(status ?? error ?? "no response")
  }),
  notice: ({ created_at, shop_id, kind, off_reason }) => ({
    ...{ at: created_at, shop_id, mark: "", ok: false, why: off_reason === null ? "" : plain(off_reason) },
    text: kind === "webhook_off" ? "owner notified: webhook is off" : "owner notified: webhook is failing"
  }),
  clock: ({ at, moved_ms, frozen }) => ({
    ...{ at, mark: "", ok: true },
    text: moved_ms > 0 ? `clock moved by ${exactDuration(moved_ms)}` : frozen ? "clock frozen" : "clock runs"
  }),
  fault: ({ at, faults, met }) => ({
    ...{ at, mark: "", ok: met === undefined },
    text: met === undefined ? `faults set: ${faults.length}` : `fault applied: ${metWords[met] ?? met}`
  }),
  receiver: ({ at, shop_id = null, event_id, type, answered, answer, forward_to }) => ({
    ...{ at, shop_id, mark: answered ?? "", ok: answered === undefined || /^2/.test(answered) },
    text:
      type !== undefined
        ? `received ${events.get(event_id) ?? type}`
        : forward_to == null
          ? `receiver set to ${answer ?? ""}`
          : `receiver forwards to ${forward_to}`
  })
}

/** The shops that rows named and the list of shops did not contain. Each is looked up only once. */
const soughtShops = new Set<string>()
const isNewShop = ({ shop_id }: Row): boolean =>
  shop_id !== null && !soughtShops.has(shop_id) && shops.peek().every(({ id }) => id !== shop_id)

let arrived: Array<Row> = []
/** Adds the waiting rows once per frame, so that a move of the clock by sixty days draws only once. */
const takeUp = (): void => {
  if (arrived.length === 0) return
  const strangers = arrived.filter(isNewShop)
  for (const { shop_id } of strangers) soughtShops.add(shop_id!)
  if (strangers.length > 0) void loadShops()
  rows = [...arrived.reverse(), ...rows].slice(0, KEPT)
  arrived = []
  version.value++
  void refresh()
}

const row = (kind: FeedKind, id: number, data: Json): Row => ({
  ...{ shop_id: null, why: "", ...rowOf[kind](data) },
  ...{ id, kind, detail: data }
})

const add = (kind: FeedKind, id: number, data: Json): void => {
  if (arrived.length === 0) requestAnimationFrame(takeUp)
  arrived.push(row(kind, id, data))
}

let last_id = 0
let source: EventSource | undefined
let timer: ReturnType<typeof setTimeout> | undefined

const RETRY_MS = 2000

/** Polls until a stream can be opened again. */
const poll = (): void => {
  link.value = "polling"
  void refresh()
  clearTimeout(timer)
  timer = setTimeout(connectFeed, RETRY_MS)
}

interface Past {
  readonly kind: FeedKind
  readonly at: string
  readonly data: Json
}

/** Reads the events of a shop and the attempts to send them from the lists. */
const pastOf = async ({ id }: Shop): Promise<ReadonlyArray<Past>> => {
  const [raised, sent] = await Promise.all([
    read<ReadonlyArray<Json>>(`/shops/${id}/events`),
    read<ReadonlyArray<Delivery>>(`/shops/${id}/deliveries?limit=1000`)
  ])
  return [
    ...(raised ?? []).map((event): Past => ({ kind: "event", at: event.created_at, data: event })),
    ...(sent ?? []).flatMap(({ event_id, attempts }) =>
      attempts.map(
        (attempt): Past => ({ kind: "attempt", at: attempt.started_at, data: { ...attempt, event_id, shop_id: id } })
      )
    )
  ]
}

/** A key of a row that is the same in the lists and in the stream. */
const sameness = ({ kind, detail: { id, event_id, n } }: Pick<Row, "kind" | "detail">): string =>
  `${kind} ${id ?? event_id} ${n ?? ""}`

/**
 * Fills the rows from the lists after a restart, a reset or an import, because the stream does not repeat earlier
 * entries then.
 */
const begin = async (): Promise<void> => {
  rows = []
  arrived = []
  const [logged, ...others] = await Promise.all([
    read<ReadonlyArray<LoggedRequest>>("/requests?limit=5000"),
    ...((await read<ReadonlyArray<Shop>>("/shops")) ?? []).map(pastOf)
  ])
  const requests = (logged ?? []).map((request): Past => ({ kind: "request", at: request.at, data: request }))
  const past = [...requests, ...others.flat()].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).slice(-KEPT)
  // Entries from the time at which the lists were read are in both the lists and the stream, so duplicates are removed.
  takeUp()
  const shown = new Set(rows.map(sameness))
  const older = past.filter(({ kind, data }) => !shown.has(sameness({ kind, detail: data })))
  rows = [...rows, ...older.map(({ kind, data }, i) => row(kind, i - older.length, data)).reverse()].slice(0, KEPT)
  version.value++
}

/** Opens the stream after the last entry that was read. */
export const connectFeed = (): void => {
  source?.close()
  const asked = new URLSearchParams({ after: String(last_id), ...(token.peek() === "" ? {} : { token: token.peek() }) })
  const stream = new EventSource(`${addressOf("sandbox/stream")}?${asked}`)
  source = stream
  stream.onopen = () => {
    void loadShops()
    void refresh()
  }
  stream.onerror = () => {
    // The browser reconnects by itself with the id of the last entry, unless the response was not a stream.
    if (stream.readyState === EventSource.CLOSED) return poll()
    link.value = "connecting"
    void read("/clock")
  }
  /** The id of the newest entry when the stream began; entries up to this id are older than the stream. */
  let newest = 0
  stream.addEventListener("hello", (message) => {
    const hello = JSON.parse(message.data)
    newest = hello.last_id
    if (startedAt.peek() !== undefined && startedAt.peek() !== hello.started_at) void restarted()
    // This is set before `link`, because a recording reads both.
    startedAt.value = hello.started_at
    link.value = "streaming"
  })
  for (const kind of feedKinds)
    stream.addEventListener(kind, (message) => {
      const data = JSON.parse(message.data)
      last_id = Number(message.lastEventId)
      add(kind, last_id, data)
      if (kind === "request") for (const listener of listeners) listener(data)
      if (kind === "clock" && last_id > newest) setClock(data)
    })
  stream.addEventListener("ticket", (message) => {
    last_id = Number(message.lastEventId)
  })
  stream.addEventListener("reset", (message) => {
    last_id = Number(message.lastEventId)
    void begin()
    // The choice is cleared, because the shops may be removed or replaced by others with the same ids.
    shopId.value = null
    void loadShops()
  })
}

/** Shows a notice whether the data survived a restart of the server. */
const restarted = async (): Promise<void> => {
  const before = shops.peek()
  const listed = (await read<ReadonlyArray<Shop>>("/shops")) ?? []
  const isKept = before.every(({ id }) => listed.some((one) => one.id === id))
  if (isKept) say("The server was restarted. Its data are unchanged.")
  else
    say(
      "The server was restarted with new data, and the earlier data are gone. Your till needs another key, which is in the tab API.",
      false
    )
}

/** Checks with a read that the sandbox accepts the token, because a refused stream does not show the reason. */
export const startFeed = async (): Promise<void> => {
  const { ok } = await send("GET", "/sandbox/clock")
  if (ok) connectFeed()
}
