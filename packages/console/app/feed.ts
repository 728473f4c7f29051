import { computed, signal } from "@preact/signals"
import { addressOf, type Json, read, send, token } from "./api.js"
import { roughly } from "./format.js"
import type { LoggedRequest } from "./model.js"
import { loadShops, refresh, setClock, shopId } from "./state.js"

export const kinds = ["request", "event", "attempt", "notice", "clock", "fault", "receiver"] as const
export type Kind = (typeof kinds)[number]

/** A row of the feed. */
export interface Row {
  readonly id: number
  readonly kind: Kind
  readonly at: string
  readonly shop_id: string | null
  readonly text: string
  readonly mark: string
  readonly ok: boolean
  readonly detail: Json
}

const KEPT = 5000
let rows: Array<Row> = []
/** Counts up when rows have come. */
const version = signal(0)

/** The kinds that are shown; all where none is chosen. */
export const chosen = signal<ReadonlySet<Kind>>(new Set())

/** The rows of the shop that is looked at, newest first. */
export const shown = computed(() => {
  version.value
  const [wanted, of] = [chosen.value, shopId.value]
  return rows.filter(
    ({ kind, shop_id }) => (wanted.size === 0 || wanted.has(kind)) && (shop_id === null || shop_id === of)
  )
})

/** Whether the stream is open, or the console asks again and again. */
export const link = signal<"streaming" | "polling" | "connecting">("connecting")

/** Whoever wants to know of every request that was made to the API. */
export const listeners = new Set<(request: LoggedRequest) => void>()

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g
/** The numbers of the tickets that were seen, to name those of a path. */
const numbers = new Map<string, string>()
/** Where the clock was moved to last. */
let moved_to = 0

/** A path as it is read: without the version, with the number of a ticket in the place of its id. */
const readablePath = (path: string): string =>
  path.replace(/^\/v1/, "").replaceAll(UUID, (id) => numbers.get(id) ?? `…${id.slice(-4)}`)

/** What a body asks for, in a word. */
const wishOf = (body: string | null): string => {
  const found = /"(?:status|channel|service)":\s*"([^"]{1,40})"/.exec(body ?? "")?.[1]
  return found === undefined ? "" : ` ${found}`
}

/** The events that were seen, to name an attempt's. */
const events = new Map<string, string>()

const rowOf: Readonly<Record<Kind, (data: Json) => Omit<Row, "id" | "kind" | "detail">>> = {
  request: ({ at, shop_id, method, path, status, reason, code, replayed, fault, request }: LoggedRequest) => ({
    at,
    shop_id,
    text: `${method} ${readablePath(path)}${wishOf(request.body)}`,
    mark: [status, fault, reason ?? code, replayed ? "replayed" : null].filter(Boolean).join(" ").replaceAll("_", " "),
    ok: status < 400 && fault !== "lose_answer"
  }),
  event: ({ id, type, created_at, shop_id, data }) => {
    const name = `${type}${data.ticket === undefined ? "" : ` ${data.ticket.number_label}`}`
    events.set(id, name)
    if (data.ticket !== undefined) numbers.set(data.ticket.id, data.ticket.number_label)
    return { at: created_at, shop_id, text: name, mark: "", ok: true }
  },
  attempt: ({ started_at, shop_id, event_id, n, status, error }) => ({
    at: started_at,
    shop_id,
    text: `attempt ${n} of ${events.get(event_id) ?? "an event"}`,
    mark: String(status ?? error ?? "no answer"),
    ok: status !== null && status >= 200 && status < 300
  }),
  notice: ({ created_at, shop_id, kind, off_reason }) => ({
    at: created_at,
    shop_id,
    text:
      kind === "webhook_off"
        ? `owner told: webhook off${off_reason ? ` (${off_reason})` : ""}`
        : "owner told: webhook fails",
    mark: "",
    ok: false
  }),
  clock: ({ now, frozen }) => {
    const by = moved_to === 0 ? 0 : Date.parse(now) - moved_to
    moved_to = Date.parse(now)
    const text = by > 0 ? `clock +${roughly(by)}` : "clock"
    return { at: now, shop_id: null, text, mark: frozen ? "frozen" : "runs", ok: true }
  },
  fault: ({ faults, met }) => ({
    at: "",
    shop_id: null,
    text: met === undefined ? `faults set: ${faults.length}` : `fault met: ${met.replace("_", " ")}`,
    mark: "",
    ok: met === undefined
  }),
  receiver: ({ at, shop_id = null, type, answered, answer }) => ({
    at: at ?? "",
    shop_id,
    text: type === undefined ? `receiver behaves: ${answer ?? ""}` : `received ${type}`,
    mark: answered ?? "",
    ok: answered === undefined || /^2/.test(answered)
  })
}

let arrived: Array<Row> = []
let now_at = ""

/** Takes rows up together, once a frame, so that a jump over sixty days draws once. */
const takeUp = (): void => {
  if (arrived.length === 0) return
  rows = [...arrived.reverse(), ...rows].slice(0, KEPT)
  arrived = []
  version.value++
  void refresh()
}

const add = (kind: Kind, id: number, data: Json): void => {
  const row = rowOf[kind](data)
  if (row.at !== "") now_at = row.at
  if (arrived.length === 0) requestAnimationFrame(takeUp)
  arrived.push({ ...row, at: row.at || now_at, id, kind, detail: data })
}

let last_id = 0
let source: EventSource | undefined
let timer: ReturnType<typeof setTimeout> | undefined

const RETRY_MS = 2000

/** Asks for what there is until a stream can be opened again. */
const poll = (): void => {
  link.value = "polling"
  void refresh()
  clearTimeout(timer)
  timer = setTimeout(connect, RETRY_MS)
}

/** Forgets all rows and takes up the requests that the log still has: after the stream forgot what came meanwhile. */
const begin = async (): Promise<void> => {
  rows = []
  arrived = []
  const logged = (await read<ReadonlyArray<LoggedRequest>>("/requests?limit=5000")) ?? []
  for (const [i, request] of logged.entries()) add("request", i - logged.length, request)
  version.value++
}

/** Opens the stream where the last one ended. */
export const connect = (): void => {
  source?.close()
  const asked = new URLSearchParams({ after: String(last_id), ...(token.peek() === "" ? {} : { token: token.peek() }) })
  const stream = new EventSource(`${addressOf("sandbox/stream")}?${asked}`)
  source = stream
  stream.onopen = () => {
    link.value = "streaming"
    void loadShops()
    void refresh()
  }
  stream.onerror = () => {
    // The browser itself tries again, with the id of the last entry, unless the response was no stream.
    if (stream.readyState === EventSource.CLOSED) poll()
    else link.value = "connecting"
  }
  for (const kind of kinds)
    stream.addEventListener(kind, (message) => {
      const data = JSON.parse(message.data)
      last_id = Number(message.lastEventId)
      add(kind, last_id, data)
      if (kind === "request") for (const listener of listeners) listener(data)
      if (kind === "clock") setClock(data)
    })
  stream.addEventListener("ticket", (message) => {
    last_id = Number(message.lastEventId)
  })
  stream.addEventListener("reset", (message) => {
    last_id = Number(message.lastEventId)
    void begin()
    // Shops may be gone, or be others under the same ids.
    shopId.value = null
    void loadShops()
  })
}

/** Whether the sandbox can be asked, so that a wrong token is found out before the stream hides why it is refused. */
export const start = async (): Promise<void> => {
  const { ok } = await send("GET", "/sandbox/clock")
  if (ok) connect()
}
