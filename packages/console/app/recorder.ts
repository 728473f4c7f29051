import { batch, computed, effect, signal } from "@preact/signals"
import { type Answer, read, send } from "./api.js"
import { link, listeners, startedAt } from "./feed.js"
import type { Client, Json, Key, LoggedRequest, ReceivedEvent, Receiver, Shop } from "./model.js"
import { plainName, scenarioOf } from "./record.js"
import type { Act, Beginning } from "./recordedActs.js"
import {
  actListeners,
  choose,
  clock,
  faults,
  isRecording,
  limits,
  loadShops,
  moveClock,
  present,
  refresh,
  say,
  shop,
  shopId,
  shops,
  show
} from "./state.js"

export const title = signal("What my till does")
/** Why the recording ended; null if the tester ended it. */
export const endReason = signal<string | null>(null)
/** Whether a recording begins in a new shop. */
export const isInNewShop = signal(true)
/** Whether the requests of the tester's own till are recorded too. */
export const isTillRecorded = signal(true)
export const beginning = signal<Beginning | null>(null)
export const acts = signal<ReadonlyArray<Act>>([])
/** The other shop whose key a till used last since the recording began; null if no till did. */
export const astray = signal<string | null>(null)

/** The recording as a scenario; null if nothing was recorded yet. */
export const recording = computed(() =>
  beginning.value === null ? null : scenarioOf(title.value, beginning.value, acts.value)
)

/** How many acts could not be recorded. */
export const problems = computed(() => recording.value?.steps.filter(({ problem }) => problem !== null) ?? [])

const add = (act: Act): void => {
  acts.value = [...acts.value, act]
}

/** The state of a recording other than its acts. */
interface Course {
  readonly events_before: number
  /** The ids of the newest entries of the receiver and of the log of requests that were read. */
  received_before: number
  seen_request: number
  readonly wasFrozen: boolean
  /** When the server of the recording started. */
  started_at?: string
}

let course: Course = { events_before: 0, received_before: 0, seen_request: 0, wasFrozen: true }

const STORED = "workshop-recording"

/** Stores the recording for this tab, so that it survives a reload of the page. */
effect(() => {
  const kept = {
    ...{ title: title.value, isRecording: isRecording.value, ending: endReason.value },
    ...{ begun: beginning.value, acts: acts.value, course }
  }
  if (kept.begun !== null) sessionStorage.setItem(STORED, JSON.stringify(kept))
})

const eventIds = async (): Promise<ReadonlyArray<string>> => {
  const all = (await read<ReadonlyArray<{ id: string }>>(`/shops/${beginning.peek()?.shop.id}/events`)) ?? []
  return all.slice(course.events_before).map(({ id }) => id)
}

const ofConsole = (answer: Answer): Act => ({
  from: "console",
  at: answer.sent.path === "/sandbox/clock" && answer.ok ? Date.parse(answer.data.now) : present.peek(),
  method: answer.sent.method,
  path: answer.sent.path,
  body: answer.sent.body,
  contentType: "application/json",
  once: answer.sent.headers["Idempotency-Key"] ?? null,
  key: undefined,
  status: answer.status,
  response: answer.body,
  // Status 0 means that the request was carried out and its connection cut.
  fault: answer.status === 0 ? "lose_answer" : null,
  asserted: {}
})

const ofTill = ({ at, method, path, key_last_four, status, request, response, fault }: LoggedRequest): Act => {
  const parsed = (text: string | null): Json => {
    if (text === null || text === "") return undefined
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }
  return {
    ...{ from: "till", at: Date.parse(at), method, path, status, fault, asserted: {} },
    body: parsed(request.body),
    contentType: request.headers["content-type"] ?? null,
    once: request.headers["idempotency-key"] ?? null,
    key: key_last_four,
    response: parsed(response.body)
  }
}

const witness = (answer: Answer): void => {
  const act = ofConsole(answer)
  if (act.path.endsWith("/deliveries/replay")) void eventIds().then((events) => add({ ...act, events }))
  else add(act)
}

const listen = (request: LoggedRequest): void => {
  // The request is skipped, because after a reload the stream repeats requests that were recorded already.
  if (request.id <= course.seen_request) return
  course.seen_request = request.id
  const isMine = request.request.headers["idempotency-key"]?.startsWith("console-")
  const isOfShop = request.shop_id === beginning.peek()?.shop.id || (request.shop_id === null && request.status === 401)
  if (!isTillRecorded.peek() || isMine) return
  if (isOfShop) add(ofTill(request))
  else astray.value = shops.peek().find(({ id }) => id === request.shop_id)?.name ?? astray.peek()
}

/** Opens an empty shop with the settings of the chosen one, whose events go to the built-in receiver. */
const openLike = async ({ name, currency, decimals, time_zone, program, ...words }: Shop): Promise<boolean> => {
  const numbers = shops.peek().map((one) => Number(/, recording (\d+)$/.exec(one.name)?.[1] ?? 0))
  const opened = await send("POST", "/sandbox/shops", {
    body: { name: `${plainName(name)}, recording ${Math.max(...numbers) + 1}`, currency, decimals, time_zone }
  })
  if (!opened.ok) return false
  const { id } = opened.data.shop
  const { forbidden_words, allowed_words, languages } = words
  await send("PATCH", `/sandbox/shops/${id}`, { body: { program, forbidden_words, allowed_words, languages } })
  await send("PUT", `/sandbox/shops/${id}/receiver`, { body: { use: true } })
  await loadShops()
  await choose(id)
  return true
}

const attend = (): void => {
  actListeners.add(witness)
  listeners.add(listen)
}

/** Continues the recording of this tab after the page was reloaded. */
export const resume = (): void => {
  const stored = sessionStorage.getItem(STORED)
  if (stored === null) return
  const kept = JSON.parse(stored)
  course = kept.course
  batch(() => {
    title.value = kept.title
    beginning.value = kept.begun
    acts.value = kept.acts
    endReason.value = kept.ending ?? null
    isRecording.value = kept.isRecording
  })
  if (!kept.isRecording) return
  attend()
  show("record")
  say("The recording continues.")
}

/** Begins a recording: the clock is frozen, because in a scenario only steps move the clock. */
export const recordAct = async (): Promise<void> => {
  const old = shop.peek()
  if (old === null || (isInNewShop.peek() && !(await openLike(old))))
    return say("There is no shop to record in. Create a shop with + at the top.", false)
  if (clock.peek().frozen_by !== null && !confirm(`The clock is frozen by ${clock.peek().frozen_by}. Record here too?`))
    return
  const wasFrozen = clock.peek().frozen
  await moveClock({ freeze: true, frozen_by: "a recording" })
  const path = `/shops/${shopId.peek()}`
  const [settings, clients, keys, receiver, events, got, logged] = await Promise.all([
    read<Shop>(path),
    read<ReadonlyArray<Client>>(`${path}/clients`),
    read<ReadonlyArray<Key>>(`${path}/keys`),
    read<Receiver>(`${path}/receiver`),
    read<ReadonlyArray<unknown>>(`${path}/events`),
    read<ReadonlyArray<ReceivedEvent>>(`${path}/received`),
    read<ReadonlyArray<LoggedRequest>>("/requests?limit=1"),
    refresh()
  ])
  if (settings === undefined || receiver === undefined) return
  course = {
    events_before: events?.length ?? 0,
    received_before: got?.at(-1)?.id ?? 0,
    seen_request: logged?.at(-1)?.id ?? 0,
    wasFrozen
  }
  const isCounted = limits.peek().some(({ used }) => used > 0)
  acts.value = []
  astray.value = null
  endReason.value = null
  beginning.value = {
    at: clock.peek().now,
    shop: settings,
    clients: clients ?? [],
    keys: keys ?? [],
    receiver,
    faults: faults.peek(),
    isCounted
  }
  isRecording.value = true
  attend()
  say(
    "The recording has started. The clock is frozen until you stop the recording, and each move of the clock is recorded."
  )
}

const end = (why: string | null): void => {
  actListeners.delete(witness)
  listeners.delete(listen)
  endReason.value = why
  isRecording.value = false
}

/** Ends the recording. The clock runs again if it ran before. */
export const stopRecording = async (): Promise<void> => {
  end(null)
  await moveClock({ freeze: course.wasFrozen })
}

effect(() => {
  if (!isRecording.value) return
  const started_at = startedAt.value
  if (started_at !== undefined) course.started_at ??= started_at
  const isRestarted = started_at !== undefined && started_at !== course.started_at
  const isShopGone = shops.value.length > 0 && shops.value.every(({ id }) => id !== beginning.peek()?.shop.id)
  if (isRestarted || isShopGone) {
    end(isRestarted ? "the server was restarted" : "its shop was removed")
    show("record")
    if (!isRestarted) void moveClock({ freeze: course.wasFrozen })
  } else if (link.value === "streaming" && !clock.value.frozen)
    say("The clock was unfrozen elsewhere, so time passes, and the recording will contain that.", false)
})

/** Adds the events that the receiver got since it was last checked, as an expectation. */
export const expectReceived = async (): Promise<void> => {
  const id = beginning.peek()?.shop.id
  await send("POST", "/sandbox/clock", { body: { advance: "0ms" } })
  const got = (await read<ReadonlyArray<ReceivedEvent>>(`/shops/${id}/received?after=${course.received_before}`)) ?? []
  course.received_before = got.at(-1)?.id ?? course.received_before
  const { at, ...rest } = ofConsole({
    sent: { method: "", path: "", body: undefined, headers: {} },
    status: 200,
    ok: true,
    body: null,
    data: null
  })
  add({
    ...rest,
    at: clock.peek().now,
    received: got.map(({ type, body }) => ({ type, ticket_id: JSON.parse(body).data?.ticket?.id ?? null }))
  })
  say(`The last step now expects the received events (${got.length}).`)
  requestAnimationFrame(() =>
    document.querySelector(".steps-recorded > :last-child")?.scrollIntoView({ block: "nearest" })
  )
}

/** Adds a field of a response to the expectations of its step, or removes it. */
export const assert = (act: Act, path: string, value: Json): void => {
  acts.value = acts.value.map((one) => {
    if (one !== act) return one
    const { [path]: had, ...rest } = one.asserted
    return { ...one, asserted: path in one.asserted ? rest : { ...rest, [path]: value ?? had ?? null } }
  })
}

/** Removes an act from the recording. */
export const dropStep = (act: Act): void => {
  acts.value = acts.value.filter((one) => one !== act)
}

/** The result of a run of the recording. */
export interface Ran {
  /** Whether the scenario passed; null if it was not run. */
  readonly passed: boolean | null
  readonly lines: ReadonlyArray<{ readonly text: string; readonly ok: boolean | null }>
}

/** Runs the recording in its own sandbox. */
export const runRecording = async (): Promise<Ran> => {
  const { ok, status, data, body } = await send("POST", "/sandbox/scenarios/run", {
    body: { scenario: recording.peek()?.text ?? "" }
  })
  if (status === 404)
    return {
      passed: false,
      lines: [
        { text: "This server cannot run scenarios. Save the file, and run it with npx workshop scenario run", ok: null }
      ]
    }
  if (!ok) return { passed: false, lines: [{ text: body?.error?.message ?? `${status}`, ok: false }] }
  const faults = (data.problems ?? []).map(({ line, message, path }: Json) => ({
    text: `line ${line}: ${path} ${message}`,
    ok: false
  }))
  const steps = (data.scenarios ?? []).flatMap(({ steps: all, failure }: Json) => [
    ...all.map(({ title: text, outcome }: Json) => ({ text, ok: outcome === "not_run" ? null : outcome === "passed" })),
    ...(failure?.message ? [{ text: failure.message, ok: false }] : []),
    ...(failure?.mismatches ?? []).map(({ path, expected, actual }: Json) => ({
      text: `${path}: expected ${expected}, but found ${actual}`,
      ok: false
    }))
  ])
  return { passed: data.failed === 0 && faults.length === 0, lines: [...faults, ...steps] }
}
