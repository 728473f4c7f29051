import { exactDuration } from "./format.js"
import type { Json } from "./model.js"
import type { Act, Beginning, Recording, Step } from "./recordedActs.js"
import { beforeIt, RecordedNames, Unfaithful } from "./recordedNames.js"
import { app, behaviourOf, givenClient, nestFields, owner, saidFault, timeOfDay } from "./scenarioWords.js"
import { flow } from "./yaml.js"

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/

/** A shop's name without the text that a recording added. */
export const plainName = (name: string): string => name.replace(/, recording \d+$/, "")

type Entry = readonly [field: string, value: unknown]

/**
 * Writes the recorded acts as a scenario: ids become names, instants become durations, and refusals become
 * expectations.
 */
class Writer {
  readonly #names: RecordedNames
  readonly #repeated: ReadonlySet<string>
  readonly #begun: Beginning
  readonly #title: string
  #isReceiving: boolean

  constructor(title: string, begun: Beginning, acts: ReadonlyArray<Act>) {
    this.#title = title
    this.#begun = begun
    this.#names = new RecordedNames(begun)
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
      ...(this.#names.keys.length === 0
        ? []
        : [["keys", Object.fromEntries(this.#names.keys.map(({ name, scopes }) => [name, scopes]))] as const]),
      ...(this.#isReceiving
        ? [["webhook", !in_use || (answer === 200 && times === null) ? true : behaviourOf(receiver)] as const]
        : [])
    ]
    const { clients } = this.#names
    return [
      `name: ${flow(this.#title)}`,
      "given:",
      "  shops:",
      "    shop:",
      ...settings.map(([field, value]) => `      ${field}: ${flow(value)}`),
      ...(clients.length === 0 ? [] : ["  clients:"]),
      ...clients.map(({ name, client }) => `    ${name}: ${flow(givenClient(client))}`),
      "steps:",
      // The clock is set to the same time of day, because midnight and the limits per day then come as in the
      // recording.
      `  - set clock: ${flow(timeOfDay(shop.time_zone, at))}`,
      ...(this.#begun.faults.length === 0 ? [] : [`  - set faults: ${flow(this.#begun.faults.map(saidFault))}`])
    ]
  }

  #linesOf(act: Act): ReadonlyArray<string> {
    const drift = Math.round(act.at - this.#names.now)
    const isClock = act.path === "/sandbox/clock"
    this.#names.now = Math.max(this.#names.now, act.at)
    if (isClock) return drift > 0 ? [`  - advance: ${exactDuration(drift)}`] : []
    if (act.received !== undefined && !this.#isReceiving)
      throw new Unfaithful(
        "the shop's events do not go to the built-in receiver. Use the built-in receiver from the beginning of the recording"
      )
    const entries = act.received === undefined ? this.#stepsOf(act) : [this.#received(act.received)]
    const steps = entries.map((step) =>
      step.map(([field, value], i) => `${i === 0 ? "  - " : "    "}${field}: ${flow(value)}`)
    )
    return [...(drift > 0 ? [`  - advance: ${exactDuration(drift)}`] : []), ...steps.flat()]
  }

  #stepsOf(act: Act): ReadonlyArray<ReadonlyArray<Entry>> {
    if (act.path.startsWith("/v1")) return [this.#apiStep(act)]
    return this.#sandboxSteps(act)
  }

  // The shop's system

  #apiStep(act: Act): ReadonlyArray<Entry> {
    if (act.status === 429 && act.fault !== "429" && this.#begun.isCounted)
      throw new Unfaithful("the limit also counted requests from before the recording")
    const [field, value, names] = this.#apiAct(act)
    const key = this.#names.keyOf(act)
    const isLost = act.fault === "lose_answer"
    const data = act.response?.data
    // A ticket gets its name from the first response that arrived.
    const isCreated =
      field === "create ticket" && !isLost && act.status < 300 && data?.id !== undefined && !this.#names.has(data.id)
    if (isLost && data?.id !== undefined) this.#names.lose(data.id)
    return [
      [field, value],
      ...(isCreated ? [["as", this.#names.nameTicket(data)] as const] : []),
      ...(names === undefined ? [] : [["as", names] as const]),
      ...(key === undefined ? [] : [["key", key] as const]),
      ...(field !== "request" && act.once !== null && this.#repeated.has(act.once)
        ? [["idempotency_key", this.#names.onceOf(act.once)] as const]
        : []),
      ...(isLost ? [["expect", "lost"] as const] : this.#expected(act))
    ]
  }

  #apiAct(act: Act): readonly [field: string, value: unknown, names?: unknown] {
    const { method, path, body, once, status } = act
    const [bare = "", query = ""] = path.split("?")
    const fields = Object.fromEntries(new URLSearchParams(query))
    const isPlain = this.#isPlain(act)
    const of = (pattern: RegExp) => (isPlain ? pattern.exec(`${method} ${bare}`)?.[1] : undefined)
    // Only some actions send the Idempotency-Key that a repeated request needs.
    const isRepeated = once !== null && this.#repeated.has(once)
    if (isPlain && method === "POST" && bare === "/v1/tickets") {
      if (act.status === 200 && !isRepeated)
        throw new Unfaithful("the request repeats one from before the recording began")
      return ["create ticket", this.#names.said(body)]
    }
    if (isPlain && method === "GET" && bare === "/v1/tickets") return this.#list(fields, act)
    const number = of(/^GET \/v1\/tickets\/by-number\/(\d+)$/)
    if (number !== undefined) {
      if (status < 300 && !this.#names.has(act.response?.data?.id)) throw beforeIt(act.response?.data)
      return ["get ticket by number", Number(number)]
    }
    const read = of(/^GET \/v1\/tickets\/([^/]+)$/)
    if (read !== undefined) return ["get ticket", this.#names.ticket(read, act)]
    const [, id, verb] = (isPlain && /^POST \/v1\/tickets\/([^/]+)\/(status|notified)$/.exec(`${method} ${bare}`)) || []
    if (id !== undefined && !isRepeated)
      return [
        verb === "status" ? "set status" : "notified",
        { ticket: this.#names.ticket(id, act), ...this.#names.said(body) }
      ]
    if (isPlain && method === "GET" && bare === "/v1/clients" && Object.keys(fields).join() === "phone")
      return ["find client", this.#names.phone(fields.phone ?? "")]
    const [, person, does] =
      (isPlain &&
        /^\w+ \/v1\/clients\/([^/]+)(|\/loyalty|\/loyalty\/stamps|\/loyalty\/redeem)$/.exec(`${method} ${bare}`)) ||
      []
    if (person !== undefined && !isRepeated) {
      const client = this.#names.client(person, act)
      if (does === "" && method === "GET") return ["get client", client]
      this.#names.refuseOldCard(person)
      if (does === "/loyalty" && method === "GET") return ["get loyalty", client]
      if (does === "/loyalty/stamps") return ["add stamps", { client, ...this.#names.said(body) }]
      if (does === "/loyalty/redeem") return ["redeem reward", client]
    }
    if (isPlain && method === "GET" && bare === "/v1/shop" && query === "") return ["get shop", {}]
    return ["request", this.#request(act, bare, fields, isRepeated)]
  }

  /** Whether the actions of scenarios can make the request: its body is JSON, or it has none. */
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
    const cursorName = cursor === undefined ? undefined : this.#names.cursor(cursor)
    if (cursor !== undefined && cursorName === undefined)
      throw new Unfaithful("the request's cursor comes from a list that was read before the recording began")
    const old = (response?.data ?? []).find?.(({ id }: Json) => !this.#names.has(id))
    if (old !== undefined)
      throw new Unfaithful(`the list contains ticket ${old.number_label}, which was created before the recording began`)
    const next = response?.meta?.next_cursor
    const name = typeof next === "string" ? this.#names.nameCursor(next) : undefined
    const filters = Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [
        field,
        field === "cursor"
          ? `$${cursorName}`
          : /^\d+$/.test(value) && field !== "phone"
            ? Number(value)
            : this.#names.text(value, field)
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
        ? { "Idempotency-Key": this.#names.onceOf(act.once) }
        : {}),
      ...(isOwn || type === "application/json" ? {} : { "Content-Type": type })
    }
    return {
      method: act.method,
      path,
      ...(Object.keys(fields).length === 0 ? {} : { query: this.#names.said(fields) }),
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(act.body === undefined ? {} : { body: this.#names.said(act.body) })
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
      const ticket = this.#names.ticket(onTicket[2]!, act)
      const name = app[onTicket[3]!]!
      return step([name, onTicket[3]!.startsWith("/quote/") ? ticket : { ticket, ...this.#names.said(body) }])
    }
    switch (call) {
      case "POST /shops/{id}/tickets": {
        const created = step(["create in app", this.#names.said(body)])
        return act.status === 201
          ? [[created[0]![0]!, ["as", this.#names.nameTicket(act.response.data)], ...created[0]!.slice(1)]]
          : created
      }
      case "PATCH /shops/{id}":
        return step(["change shop", this.#names.said(body)])
      case "POST /shops/{id}/deliveries/replay":
        return this.#replay(act)
      case "PUT /shops/{id}/receiver":
        return this.#receiver(act)
      case "PUT /shops/{id}/webhook":
        throw new Unfaithful("a scenario has its own receiver, and would send nothing to that address")
      case "POST /shops/{id}/limits":
        throw new Unfaithful("a scenario can use up a limit only by its requests")
      case "PUT /faults":
        return step(["set faults", body.faults.map(saidFault)])
      case "DELETE /faults":
        return step(["clear faults", {}])
    }
    const visited = /^POST \/clients\/([^/]+)\/visits$/.exec(call)
    if (visited !== null) return step(["visit", this.#names.client(visited[1]!, act)])
    throw new Unfaithful(
      path.includes("/shops") ? "the request is about another shop" : "scenarios have no such action"
    )
  }

  #receiver({ body, response }: Act): ReadonlyArray<ReadonlyArray<Entry>> {
    const { answer = 200, times = null, afterwards = 200, forward_to = null, use } = body
    if (forward_to !== null) throw new Unfaithful("a scenario's receiver responds itself and cannot forward events")
    if (times !== null && afterwards !== 200)
      throw new Unfaithful("a scenario's receiver can respond only 200 afterwards")
    if (use === true && !this.#isReceiving && this.#names.hasTickets)
      throw new Unfaithful("the webhook was set after the first ticket. Set the webhook before you record")
    if (response?.data?.in_use === true) this.#isReceiving = true
    return [[["receiver", behaviourOf({ answer, times })]]]
  }

  /**
   * The received events of the recording's tickets. Other events are left out, because the scenario does not contain
   * their tickets.
   */
  #received(events: NonNullable<Act["received"]>): ReadonlyArray<Entry> {
    const types = events
      .filter(({ ticket_id }) => ticket_id === null || this.#names.has(ticket_id))
      .map(({ type }) => type)
    return [["expect new received", types.length > 1 ? { $unordered: types } : types]]
  }

  #replay(act: Act): ReadonlyArray<ReadonlyArray<Entry>> {
    const [id] = act.body.event_ids ?? []
    const index = act.events?.indexOf(id) ?? -1
    if (index < 0) throw new Unfaithful("the event was raised before the recording began")
    return [
      [
        ["expect events", { $length: act.events?.length }],
        ["as", "events"]
      ],
      [["replay events", { event_ids: [`$events.${index}.id`] }], ...this.#expected(act)]
    ]
  }

  #expected({ status, response, path, asserted }: Act): ReadonlyArray<Entry> {
    if (status >= 300)
      return [["expect", [status, response?.error?.details?.reason ?? response?.error?.code].filter(Boolean).join(" ")]]
    const data = nestFields({
      ...(Array.isArray(response?.data) ? { $length: response.data.length } : {}),
      ...(path.startsWith("/v1/tickets/") || path.startsWith("/sandbox/tickets/")
        ? typeof response?.data?.state === "string"
          ? { state: response.data.state }
          : {}
        : {}),
      ...Object.fromEntries(Object.entries(asserted).map(([path, value]) => [path, this.#names.asserted(path, value)]))
    })
    const isReplayed = response?.meta?.replayed === true
    const expected = {
      ...(isReplayed ? { status, meta: { replayed: true } } : {}),
      ...(Object.keys(data).length === 0 ? {} : { data })
    }
    return Object.keys(expected).length === 0 ? [] : [["expect", expected]]
  }
}

/** Writes the acts since a recording began as a scenario. */
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
