import { exactly, timeIn } from "./format.js"
import type { Client, Fault, Json, Key, Receiver, Shop } from "./model.js"
import { flow } from "./yaml.js"

/** The sandbox as it was when the recording began. */
export interface Beginning {
  readonly at: number
  readonly shop: Shop
  readonly clients: ReadonlyArray<Client>
  readonly keys: ReadonlyArray<Key>
  readonly receiver: Receiver
  readonly faults: ReadonlyArray<Fault>
  /** Whether something was counted already, so that a limit may be reached sooner than in a scenario. */
  readonly isCounted: boolean
}

/** Something that was done, with what came of it. */
export interface Act {
  readonly from: "console" | "till"
  readonly at: number
  readonly method: string
  readonly path: string
  /** As JSON where it is JSON, else as text; undefined where there was none. */
  readonly body: Json
  readonly contentType: string | null
  readonly once: string | null
  /** The last letters of the key; null where there was none, undefined where it is the console's own. */
  readonly key: string | null | undefined
  readonly status: number
  readonly response: Json
  readonly fault: string | null
  /** Fields of the response that are expected besides, by their paths. */
  readonly asserted: Readonly<Record<string, Json>>
  /** The events of the shop since the recording began, where the act names events. */
  readonly events?: ReadonlyArray<string>
  /** The events that came since the receiver was last looked at. */
  readonly received?: ReadonlyArray<{ readonly type: string; readonly ticket_id: string | null }>
}

/** A step of a scenario as it is written, or why an act is none. */
export interface Step {
  readonly act: Act
  readonly lines: ReadonlyArray<string>
  readonly problem: string | null
}

/** A recording as a scenario. */
export interface Recording {
  readonly steps: ReadonlyArray<Step>
  readonly text: string
}

/** Why an act cannot be recorded faithfully. */
class Unfaithful {
  constructor(readonly why: string) {}
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/

/** A name made of a text; `fallback` where nothing is left of it. */
const slug = (text: string, fallback: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .match(/[a-z][a-z0-9]*/g)
    ?.at(-1) ?? fallback

/** A shop's name without what a recording added to it. */
export const plainName = (name: string): string => name.replace(/, recording \d+$/, "")

type Entry = readonly [field: string, value: unknown]

/** Writes what was done as a scenario: ids become names, instants become distances, refusals become expectations. */
class Writer {
  readonly #names = new Map<string, string>()
  readonly #taken = new Set(["shop", "now", "n", "events"])
  readonly #keys = new Map<string, { readonly name: string; readonly scopes: ReadonlyArray<string> }>()
  readonly #clients = new Map<string, { readonly name: string; readonly client: Client }>()
  readonly #cursors = new Map<string, string>()
  /** The tickets whose creation was answered to nobody. */
  readonly #lost = new Set<string>()
  readonly #onces = new Map<string, string>()
  readonly #repeated: ReadonlySet<string>
  readonly #begun: Beginning
  readonly #title: string
  #now: number
  #isReceiving: boolean

  constructor(title: string, begun: Beginning, acts: ReadonlyArray<Act>) {
    this.#title = title
    this.#begun = begun
    this.#now = begun.at
    this.#isReceiving = begun.receiver.in_use
    const keys = acts.flatMap(({ once }) => (once === null ? [] : [once]))
    this.#repeated = new Set(keys.filter((key, i) => keys.indexOf(key) !== i))
  }

  write(acts: ReadonlyArray<Act>): Recording {
    const steps = acts.map((act): Step => {
      try {
        return { act, lines: this.#linesOf(act), problem: null }
      } catch (error) {
        if (!(error instanceof Unfaithful)) throw error
        return { act, lines: [`  # not recorded: ${act.method} ${act.path}: ${error.why}`], problem: error.why }
      }
    })
    return { steps, text: [...this.#head(), ...steps.flatMap(({ lines }) => lines), ""].join("\n") }
  }

  #head(): ReadonlyArray<string> {
    const { shop, receiver, at } = this.#begun
    const { answer, times, in_use } = receiver
    const settings: Array<Entry> = [
      ["name", plainName(shop.name)],
      ...(["currency", "decimals", "time_zone"] as const).map((field): Entry => [field, shop[field]]),
      ...(shop.next_number > 1 ? [["next_number", shop.next_number] as const] : []),
      ...(["forbidden_words", "allowed_words"] as const).flatMap((field) =>
        shop[field].length === 0 ? [] : [[field, shop[field]] as const]
      ),
      ["languages", shop.languages],
      ...(shop.program.active
        ? [
            [
              "program",
              {
                stamps_required: shop.program.stamps_required,
                stamps_per_ticket: shop.program.stamps_per_ticket,
                reward_label: shop.program.reward_label
              }
            ] as const
          ]
        : []),
      ...(this.#keys.size === 0
        ? []
        : [["keys", Object.fromEntries([...this.#keys.values()].map(({ name, scopes }) => [name, scopes]))] as const]),
      ...(this.#isReceiving
        ? [["webhook", !in_use || (answer === 200 && times === null) ? true : behaviourOf(receiver)] as const]
        : [])
    ]
    const clients = [...this.#clients.values()]
    return [
      `name: ${flow(this.#title)}`,
      "given:",
      "  shops:",
      "    shop:",
      ...settings.map(([field, value]) => `      ${field}: ${flow(value)}`),
      ...(clients.length === 0 ? [] : ["  clients:"]),
      ...clients.map(({ name, client }) => `    ${name}: ${flow(givenClient(client))}`),
      "steps:",
      // Midnights and limits a day fall as in the recording, whatever the day.
      `  - set clock: ${flow(timeOfDay(shop.time_zone, at))}`,
      ...(this.#begun.faults.length === 0 ? [] : [`  - set faults: ${flow(this.#begun.faults.map(saidFault))}`])
    ]
  }

  #linesOf(act: Act): ReadonlyArray<string> {
    const drift = Math.round(act.at - this.#now)
    const isClock = act.path === "/sandbox/clock"
    this.#now = Math.max(this.#now, act.at)
    if (isClock) return drift > 0 ? [`  - advance: ${exactly(drift)}`] : []
    if (act.received !== undefined && !this.#isReceiving)
      throw new Unfaithful("the shop's events do not go to the built-in receiver: use it from the beginning")
    const entries = act.received === undefined ? this.#stepsOf(act) : [this.#received(act.received)]
    const steps = entries.map((step) =>
      step.map(([field, value], i) => `${i === 0 ? "  - " : "    "}${field}: ${flow(value)}`)
    )
    return [...(drift > 0 ? [`  - advance: ${exactly(drift)}`] : []), ...steps.flat()]
  }

  #stepsOf(act: Act): ReadonlyArray<ReadonlyArray<Entry>> {
    if (act.path.startsWith("/v1")) return [this.#apiStep(act)]
    return this.#sandboxSteps(act)
  }

  // The shop's system

  #apiStep(act: Act): ReadonlyArray<Entry> {
    if (act.status === 429 && act.fault !== "429" && this.#begun.isCounted)
      throw new Unfaithful("requests before the recording counted against the limit too")
    const [field, value, names] = this.#apiAct(act)
    const key = this.#keyOf(act)
    const isLost = act.fault === "lose_answer"
    const made = act.response?.data
    // A ticket has its name from the first answer that somebody saw.
    const isCreated =
      field === "create ticket" && !isLost && act.status < 300 && made?.id !== undefined && !this.#names.has(made.id)
    if (isLost && made?.id !== undefined) this.#lost.add(made.id)
    return [
      [field, value],
      ...(isCreated ? [["as", this.#nameTicket(made)] as const] : []),
      ...(names === undefined ? [] : [["as", names] as const]),
      ...(key === undefined ? [] : [["key", key] as const]),
      ...(field !== "request" && act.once !== null && this.#repeated.has(act.once)
        ? [["idempotency_key", this.#onceOf(act.once)] as const]
        : []),
      ...(isLost ? [["expect", "lost"] as const] : this.#expected(act))
    ]
  }

  /** An idempotency key as its till wrote it; the console's own are numbered. */
  #onceOf(once: string): string {
    if (!once.startsWith("console-")) return once
    const known = this.#onces.get(once) ?? `once-${this.#onces.size + 1}`
    this.#onces.set(once, known)
    return known
  }

  #keyOf({ key, status }: Act): string | null | undefined {
    if (key === undefined) return undefined
    if (status === 401) return key === null ? null : "wk_test_unknown-to-everybody"
    const found = this.#begun.keys.find(({ last_four }) => last_four === key)
    if (found === undefined || found.scopes.length === 4) return undefined
    const known = this.#keys.get(found.id) ?? { name: this.#free(slug(found.name, "key")), scopes: found.scopes }
    this.#keys.set(found.id, known)
    return `$${known.name}`
  }

  #apiAct(act: Act): readonly [field: string, value: unknown, names?: unknown] {
    const { method, path, body, once, status } = act
    const [bare = "", query = ""] = path.split("?")
    const fields = Object.fromEntries(new URLSearchParams(query))
    const isPlain = this.#isPlain(act)
    const of = (pattern: RegExp) => (isPlain ? pattern.exec(`${method} ${bare}`)?.[1] : undefined)
    // Only some acts send the key that a repeated request needs.
    const isRepeated = once !== null && this.#repeated.has(once)
    if (isPlain && method === "POST" && bare === "/v1/tickets") {
      if (act.status === 200 && !isRepeated)
        throw new Unfaithful("it repeats a request that was made before the recording began")
      return ["create ticket", this.#said(body)]
    }
    if (isPlain && method === "GET" && bare === "/v1/tickets") return this.#list(fields, act)
    const number = of(/^GET \/v1\/tickets\/by-number\/(\d+)$/)
    if (number !== undefined) {
      if (status < 300 && !this.#names.has(act.response?.data?.id)) throw beforeIt(act.response?.data)
      return ["get ticket by number", Number(number)]
    }
    const read = of(/^GET \/v1\/tickets\/([^/]+)$/)
    if (read !== undefined) return ["get ticket", this.#ticket(read, act)]
    const [, id, verb] = (isPlain && /^POST \/v1\/tickets\/([^/]+)\/(status|notified)$/.exec(`${method} ${bare}`)) || []
    if (id !== undefined && !isRepeated)
      return [verb === "status" ? "set status" : "notified", { ticket: this.#ticket(id, act), ...this.#said(body) }]
    if (isPlain && method === "GET" && bare === "/v1/clients" && Object.keys(fields).join() === "phone")
      return ["find client", this.#phone(fields.phone ?? "")]
    const [, person, does] =
      (isPlain &&
        /^\w+ \/v1\/clients\/([^/]+)(|\/loyalty|\/loyalty\/stamps|\/loyalty\/redeem)$/.exec(`${method} ${bare}`)) ||
      []
    if (person !== undefined && !isRepeated) {
      const client = this.#client(person, act)
      if (does === "" && method === "GET") return ["get client", client]
      this.#refuseOldCard(person)
      if (does === "/loyalty" && method === "GET") return ["get loyalty", client]
      if (does === "/loyalty/stamps") return ["add stamps", { client, ...this.#said(body) }]
      if (does === "/loyalty/redeem") return ["redeem reward", client]
    }
    if (isPlain && method === "GET" && bare === "/v1/shop" && query === "") return ["get shop", {}]
    return ["request", this.#request(act, bare, fields, isRepeated)]
  }

  /** Whether a request is as the acts of scenarios make it: JSON, or no body. */
  #isPlain({ method, body, contentType, once, path }: Act): boolean {
    if (method === "GET") return body === undefined || body === ""
    if (/\/v1\/tickets$|\/loyalty\//.test(path) && once === null) return false
    return (
      typeof body === "object" &&
      body !== null &&
      !Array.isArray(body) &&
      /^application\/json\b/.test(contentType ?? "")
    )
  }

  #list(fields: Readonly<Record<string, string>>, { response }: Act): readonly [string, unknown, unknown?] {
    const { cursor } = fields
    const known = cursor === undefined ? undefined : this.#cursors.get(cursor)
    if (cursor !== undefined && known === undefined)
      throw new Unfaithful("its cursor comes from a list that was read before the recording began")
    const old = (response?.data ?? []).find?.(({ id }: Json) => !this.#names.has(id))
    if (old !== undefined)
      throw new Unfaithful(`it lists ticket ${old.number_label}, which was made before the recording began`)
    const next = response?.meta?.next_cursor
    const name = typeof next === "string" ? this.#free("cursor") : undefined
    if (name !== undefined) this.#cursors.set(next, name)
    const filters = Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [
        field,
        field === "cursor"
          ? `$${known}`
          : /^\d+$/.test(value) && field !== "phone"
            ? Number(value)
            : this.#text(value, field)
      ])
    )
    return name === undefined ? ["list tickets", filters] : ["list tickets", filters, { [name]: "meta.next_cursor" }]
  }

  #request(act: Act, bare: string, fields: Readonly<Record<string, string>>, isRepeated: boolean): unknown {
    const path = bare.replaceAll(new RegExp(UUID, "g"), (id) => {
      const name = this.#names.get(id)
      return name === undefined ? id : `\${${name}.id}`
    })
    const isOwn = act.body === undefined || typeof act.body === "object"
    const type = act.contentType ?? null
    const headers = {
      ...(act.once !== null && (isRepeated || act.method !== "GET")
        ? { "Idempotency-Key": this.#onceOf(act.once) }
        : {}),
      ...(isOwn || type === "application/json" ? {} : { "Content-Type": type })
    }
    return {
      method: act.method,
      path,
      ...(Object.keys(fields).length === 0 ? {} : { query: this.#said(fields) }),
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(act.body === undefined ? {} : { body: this.#said(act.body) })
    }
  }

  // The app, the owner, the client and the receiver

  #sandboxSteps(act: Act): ReadonlyArray<ReadonlyArray<Entry>> {
    const { method, path, body } = act
    const { shop } = this.#begun
    const call = `${method} ${path.replace("/sandbox", "").replace(`/shops/${shop.id}`, "/shops/{id}")}`
    const step = (...entries: ReadonlyArray<Entry>) => [[...entries, ...this.#expected(act)]]
    const plain = owner[call]
    if (plain !== undefined) return step([plain, {}])
    const onTicket =
      /^(POST|PATCH) \/tickets\/([^/]+)(\/quote\/accept|\/quote\/refuse|\/quote|\/delay|\/part|\/photo|)$/.exec(call)
    if (onTicket !== null) {
      const ticket = this.#ticket(onTicket[2]!, act)
      const name = app[onTicket[3]!]!
      return step([name, onTicket[3]!.startsWith("/quote/") ? ticket : { ticket, ...this.#said(body) }])
    }
    switch (call) {
      case "POST /shops/{id}/tickets": {
        const made = step(["create in app", this.#said(body)])
        return act.status === 201
          ? [[made[0]![0]!, ["as", this.#nameTicket(act.response.data)], ...made[0]!.slice(1)]]
          : made
      }
      case "PATCH /shops/{id}":
        return step(["change shop", this.#said(body)])
      case "POST /shops/{id}/deliveries/replay":
        return this.#replay(act)
      case "PUT /shops/{id}/receiver":
        return this.#receiver(act)
      case "PUT /shops/{id}/webhook":
        throw new Unfaithful("a scenario has a receiver of its own, and would send nothing to that address")
      case "POST /shops/{id}/limits":
        throw new Unfaithful("a scenario uses a limit up by its requests alone")
      case "PUT /faults":
        return step(["set faults", body.faults.map(saidFault)])
      case "DELETE /faults":
        return step(["clear faults", {}])
    }
    const visited = /^POST \/clients\/([^/]+)\/visits$/.exec(call)
    if (visited !== null) return step(["visit", this.#client(visited[1]!, act)])
    throw new Unfaithful(path.includes("/shops") ? "it is about another shop" : "scenarios have no such act")
  }

  #receiver({ body, response }: Act): ReadonlyArray<ReadonlyArray<Entry>> {
    const { answer = 200, times = null, afterwards = 200, forward_to = null, use } = body
    if (forward_to !== null) throw new Unfaithful("a scenario's receiver answers by itself and passes nothing on")
    if (times !== null && afterwards !== 200) throw new Unfaithful("a scenario's receiver is healthy afterwards")
    if (use === true && !this.#isReceiving && this.#names.size > 0)
      throw new Unfaithful("the webhook was set after the first ticket: begin the recording with it")
    if (response?.data?.in_use === true) this.#isReceiving = true
    return [[["receiver", behaviourOf({ answer, times })]]]
  }

  /** What the receiver got of the tickets of the recording: the others are in no scenario. */
  #received(events: NonNullable<Act["received"]>): ReadonlyArray<Entry> {
    const types = events
      .filter(({ ticket_id }) => ticket_id === null || this.#names.has(ticket_id))
      .map(({ type }) => type)
    return [["expect new received", types.length > 1 ? { $unordered: types } : types]]
  }

  #replay(act: Act): ReadonlyArray<ReadonlyArray<Entry>> {
    const [id] = act.body.event_ids ?? []
    const index = act.events?.indexOf(id) ?? -1
    if (index < 0) throw new Unfaithful("that event was raised before the recording began")
    return [
      [
        ["expect events", { $length: act.events?.length }],
        ["as", "events"]
      ],
      [["replay events", { event_ids: [`$events.${index}.id`] }], ...this.#expected(act)]
    ]
  }

  // Names

  #free(wanted: string): string {
    let name = wanted
    for (let n = 2; this.#taken.has(name); n++) name = `${wanted}${n}`
    this.#taken.add(name)
    return name
  }

  #nameTicket(ticket: Json): string {
    const name = this.#free(slug(ticket.item ?? ticket.service, "ticket"))
    this.#names.set(ticket.id, name)
    for (const [i, { id }] of (ticket.items ?? []).entries()) this.#names.set(id, `${name}.items.${i}`)
    return name
  }

  #ticket(id: string, { response, status }: Act): string {
    const name = this.#names.get(id)
    if (name !== undefined) return `$${name}`
    if (status === 404 || status === 400) return id
    if (this.#lost.has(id)) throw new Unfaithful("the answer of its creation was lost, so no step has its id")
    throw beforeIt(response?.data)
  }

  #client(id: string, { status }: Act): string {
    const client = this.#begun.clients.find((one) => one.id === id)
    if (client !== undefined) return `$${this.#given(client)}`
    if (status === 404 || status === 400) return id
    throw new Unfaithful("the client's account was opened after the recording began")
  }

  #refuseOldCard(id: string): void {
    const client = this.#begun.clients.find((one) => one.id === id)
    if ((client?.card?.balance ?? 0) > 0)
      throw new Unfaithful(`${client?.display_name} had ${client?.card?.balance} stamps before the recording began`)
  }

  #phone(text: string): string {
    const client = this.#begun.clients.find(({ phone }) => phone === text)
    return client === undefined ? text : `$${this.#given(client)}.phone`
  }

  #given(client: Client): string {
    if (client.blocked) throw new Unfaithful(`${client.display_name} blocked the shop before the recording began`)
    const known = this.#clients.get(client.id) ?? {
      name: this.#free(slug(client.display_name.split(" ")[0] ?? "", "client")),
      client
    }
    this.#clients.set(client.id, known)
    return known.name
  }

  #text(value: string, field: string): string {
    const name = this.#names.get(value)
    if (name !== undefined) return `$${name}.id`
    const client = this.#begun.clients.find(({ id }) => id === value)
    if (client !== undefined) return `$${this.#given(client)}.id`
    if (/phone$/.test(field)) return this.#phone(value)
    if (INSTANT.test(value)) return distance(Date.parse(value) - this.#now)
    if (value.includes("${")) throw new Unfaithful(`its text "${value}" has the signs that mean a name in scenarios`)
    return value.startsWith("$") ? `$${value}` : value
  }

  /** A body with names in the place of what differs from run to run. */
  // biome-ignore lint/suspicious/noExplicitAny: a body may be anything
  #said(value: unknown, field = ""): any {
    if (typeof value === "string") return this.#text(value, field)
    if (Array.isArray(value)) return value.map((one) => this.#said(one, field))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.#said(one, name)]))
  }

  #asserted(path: string, value: Json): Json {
    if (typeof value !== "string") return value
    const known = /phone$/.test(path) ? this.#phone(value) : value
    return known === value && /^[$/<>]/.test(value) ? `$${value}` : known
  }

  #expected({ status, response, path, asserted }: Act): ReadonlyArray<Entry> {
    if (status >= 300)
      return [["expect", [status, response?.error?.details?.reason ?? response?.error?.code].filter(Boolean).join(" ")]]
    const data = nested({
      ...(Array.isArray(response?.data) ? { $length: response.data.length } : {}),
      ...(path.startsWith("/v1/tickets/") || path.startsWith("/sandbox/tickets/")
        ? typeof response?.data?.state === "string"
          ? { state: response.data.state }
          : {}
        : {}),
      ...Object.fromEntries(Object.entries(asserted).map(([path, value]) => [path, this.#asserted(path, value)]))
    })
    const isReplayed = response?.meta?.replayed === true
    const expected = {
      ...(isReplayed ? { status, meta: { replayed: true } } : {}),
      ...(Object.keys(data).length === 0 ? {} : { data })
    }
    return Object.keys(expected).length === 0 ? [] : [["expect", expected]]
  }
}

const owner: Readonly<Record<string, string>> = {
  "POST /shops/{id}/webhook/rotate": "rotate secret",
  "POST /shops/{id}/webhook/ping": "ping",
  "POST /shops/{id}/webhook/enable": "enable webhook",
  "POST /shops/{id}/webhook/disable": "disable webhook",
  "DELETE /shops/{id}/webhook": "remove webhook"
}

const app: Readonly<Record<string, string>> = {
  "": "edit ticket",
  "/quote": "propose quote",
  "/quote/accept": "accept quote",
  "/quote/refuse": "refuse quote",
  "/delay": "announce delay",
  "/part": "record part",
  "/photo": "attach photo"
}

/** A fault as scenarios say it: what is left out means any, or all. */
const saidFault = ({ method, path, fault, next, delay_ms }: Fault): unknown => ({
  ...(method === null ? {} : { method }),
  ...(path === null ? {} : { path }),
  fault: /^\d+$/.test(fault) ? Number(fault) : fault,
  ...(next === null ? {} : { next }),
  ...(fault === "delay" ? { delay_ms } : {})
})

const beforeIt = (ticket: Json): Unfaithful =>
  new Unfaithful(
    `${ticket?.number_label ? `ticket ${ticket.number_label}` : "the ticket"} was made before the recording began`
  )

/** How a receiver answers, as scenarios say it. */
const behaviourOf = ({ answer, times }: Pick<Receiver, "answer" | "times">): unknown => {
  const late = answer === "late" ? { answers: 200, delay: "11s" } : null
  if (late === null && times === null) return answer
  return { ...(late ?? { answers: answer }), ...(times === null ? {} : { times }) }
}

/** The time of day, to the millisecond: `11:20:42.005`. */
const timeOfDay = (zone: string, at: number): string => `${timeIn(zone, at)}.${String(at % 1000).padStart(3, "0")}`

/** Without the phone number: each run takes one that is free. */
const givenClient = ({ display_name, known }: Client): unknown => {
  const [given_name = "", ...rest] = display_name.split(" ")
  const family = rest.join(" ")
  const hidden = /^(\S)\.$/.exec(family)?.[1]
  return {
    given_name,
    ...(family === "" ? {} : { family_name: hidden ?? family }),
    ...(hidden === undefined ? {} : { hide_name: true }),
    ...(known ? { knows: ["$shop"] } : {})
  }
}

const distance = (ms: number): string => (ms === 0 ? "$now" : `$now ${ms < 0 ? "-" : "+"} ${exactly(Math.abs(ms))}`)

/** Fields by their paths, such as `money.price_minor`, as the object that they are fields of. */
const nested = (fields: Readonly<Record<string, Json>>): Json => {
  const whole: Json = {}
  for (const [path, value] of Object.entries(fields)) {
    const names = path.split(".")
    let part = whole
    for (const name of names.slice(0, -1)) part = part[name] ??= {}
    part[names.at(-1)!] = value
  }
  return whole
}

/** Writes what was done since a recording began as a scenario. */
export const scenarioOf = (title: string, begun: Beginning, acts: ReadonlyArray<Act>): Recording => {
  const writer = new Writer(title, begun, acts)
  return writer.write(acts)
}

/** The fields of a response that do not differ from run to run. */
export const assertable = (data: Json): ReadonlyArray<readonly [path: string, value: Json]> =>
  Object.entries(typeof data === "object" && data !== null && !Array.isArray(data) ? data : {}).flatMap(
    ([name, value]) => {
      if (/(^|_)id$|_at$|^tracking_/.test(name)) return []
      if (typeof value === "object" && value !== null) {
        return Array.isArray(value) ? [] : assertable(value).map(([path, one]) => [`${name}.${path}`, one] as const)
      }
      return [[name, value] as const]
    }
  )
