import { displayName } from "@workshop/core/internal"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Logger, LogLevel, ManagedRuntime, Predicate, Random, Scope } from "effect"
import { makeHandler, makeReceiver } from "../receive/Receiver.js"
import { Api, type CallOptions, EnvironmentFailed } from "../testkit/Api.js"
import { type CallName, requestOf } from "../testkit/Calls.js"
import { inProcessFetch, inProcessServiceLayer } from "../testkit/InProcessService.js"
import type { Handler } from "../testkit/LoopbackServer.js"
import {
  idOf,
  isSuccess,
  LOST_RESPONSE,
  requireSuccess,
  type ScenarioReceiver,
  type ScenarioShop,
  type StepContext,
  type StepFailure,
  stepData
} from "./Action.js"
import { type ExpectedFields, fieldOf } from "./Expectation.js"
import type { StepExchange } from "./Report.js"
import { behaviourOf, type Names, ReferenceUnknown, resolve } from "./references.js"
import type { GivenClient, GivenShop, Scenario, Step } from "./Scenario.js"

/** The environment of a scenario: a service with its sandbox, and receivers that the service can reach. */
interface ScenarioEnvironment {
  readonly api: Api
  /** The token of the sandbox; null if it needs none. */
  readonly sandboxToken: string | null
  /** True if the service may have clients of earlier scenarios. */
  readonly isShared: boolean
  /** A phone number that no client has yet. */
  readonly nextPhone: Effect.Effect<string>
  readonly openReceiver: Effect.Effect<ScenarioReceiver, EnvironmentFailed, Scope.Scope>
}

/** The instant at which every scenario in this process begins: a Monday at 10 o'clock in Tunis. */
const START = Date.UTC(2026, 0, 5, 9)

const formatPhone = (n: number): string => `+2162${String(n).padStart(7, "0")}`

const loggerLayer = Layer.merge(
  Logger.replace(
    Logger.defaultLogger,
    Logger.make((entry) => console.error(Logger.logfmtLogger.log(entry)))
  ),
  Logger.minimumLogLevel(LogLevel.Warning)
)

/**
 * The environment of a new service in this process, on the memory store and without sockets. Everything that is due
 * runs when its clock is moved.
 */
export const inProcessEnvironment: Effect.Effect<ScenarioEnvironment, never, Scope.Scope> = Effect.gen(function* () {
  const handlers = new Map<string, Handler>()
  const service = inProcessServiceLayer({
    store: MemoryStore.layer,
    receiverAt: (url) => handlers.get(url),
    seed: 1,
    start: START
  })
  const runtime = yield* Effect.acquireRelease(
    Effect.sync(() => ManagedRuntime.make(Layer.provideMerge(service, loggerLayer))),
    (runtime) => runtime.disposeEffect
  )
  const fetch = yield* Effect.promise(() => runtime.runPromise(inProcessFetch))
  let phones = 0
  return {
    api: new Api("http://127.0.0.1", { fetch }),
    sandboxToken: null,
    isShared: false,
    nextPhone: Effect.sync(() => formatPhone(++phones)),
    openReceiver: Effect.map(makeHandler({ keep: Number.POSITIVE_INFINITY }), ({ handler, receiver }) => {
      const url = `http://127.0.0.1:4011/receiver-${handlers.size + 1}`
      handlers.set(url, handler)
      return { ...receiver, url }
    })
  }
})

/** The receiver accepts signatures of any age, because scenarios move the clock of the sandbox. */
const ANY_AGE_S = 1e12

/** The environment of a running service with a sandbox. The receivers listen on loopback. */
export const remoteEnvironment = (remote: {
  readonly baseUrl: string
  readonly sandboxToken: string | null
  /** The header in which the service signs deliveries. */
  readonly signatureHeader: string
}): ScenarioEnvironment => ({
  api: new Api(remote.baseUrl),
  sandboxToken: remote.sandboxToken,
  isShared: true,
  // The number is random, because the clients of earlier runs still exist.
  nextPhone: Effect.map(Random.nextIntBetween(0, 10_000_000), formatPhone),
  openReceiver: Effect.mapError(
    makeReceiver({ tolerance_seconds: ANY_AGE_S, header: remote.signatureHeader }),
    ({ message }) =>
      new EnvironmentFailed({ message: `The scenario's webhook receiver cannot listen on this machine: ${message}` })
  )
})

interface ClockView {
  readonly now: string
  readonly frozen: boolean
}

const keyOf = (value: unknown): string | null => {
  const key = Predicate.isRecord(value) ? value.key : value
  return typeof key === "string" ? key : null
}

const noSandboxMessage = (origin: string, { status }: StepExchange): string =>
  status === 401
    ? `The sandbox at ${origin} requires a token. Set WORKSHOP_SANDBOX_TOKEN to the token with which the server was started.`
    : `There is no sandbox at ${origin} (${status}). Start the service with workshop serve --sandbox --store memory.`

const parseJsonOrText = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The error codes of a connection that was cut before the response arrived. */
const CUT_CODES: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"])

const { path: FAULTS_PATH } = requestOf("clear faults")

interface ClientAccount {
  readonly id: string
  readonly phone: string
  readonly display_name: string
}

const DEFAULT_SHOP = { currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }

const capitalise = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const omitUndefined = (fields: ExpectedFields): ExpectedFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** Runs the steps of one scenario, with its names, its clock and its receivers. */
export class ScenarioRunner {
  readonly #environment: ScenarioEnvironment
  readonly #scope: Scope.Scope
  readonly #values = new Map<string, unknown>()
  readonly #receivers = new Map<string, ScenarioReceiver>()
  readonly #observed = new Map<string, number>()
  #first: ScenarioShop = { id: "", key: "" }
  #clock: ClockView = { now: "", frozen: false }
  #keyCount = 0
  #areFaultsSet = false
  readonly #phones = new Set<string>()

  constructor(environment: ScenarioEnvironment, scope: Scope.Scope) {
    this.#environment = environment
    this.#scope = scope
  }

  /** The current values of all names; `n` is the number within a repetition. */
  currentNames(n?: number): Names {
    const values = new Map(this.#values)
    return { values: n === undefined ? values : values.set("n", n), now: this.#clock.now }
  }

  setName(name: string, value: unknown): void {
    this.#values.set(name, value)
  }

  readonly send = (method: string, path: string, options: CallOptions = {}) => {
    const { bearer, idempotencyKey, body } = options
    const headers = {
      ...(bearer === null || bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(idempotencyKey === null || idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      ...options.headers
    }
    const content = typeof body === "string" ? { raw: body } : { body }
    const call = { method, path, headers, ...(body === undefined ? {} : { body }) }
    const { api } = this.#environment
    return api.call(method, path, { bearer: null, headers, ...content }).pipe(
      Effect.map(({ response }): StepExchange => ({ call, ...response, body: parseJsonOrText(response.body) })),
      Effect.catchAll(({ url, detail, code }) =>
        CUT_CODES.has(code ?? "")
          ? Effect.succeed({ call, status: LOST_RESPONSE, headers: {}, body: "" })
          : new EnvironmentFailed({
              message: `${method} ${url} got no response (${detail}). Check that the service is running there.`
            })
      )
    )
  }

  readonly #sandbox = (method: string, path: string, body?: unknown) =>
    this.send(method, path, { bearer: this.#environment.sandboxToken, body })

  /** Moves the clock; the response comes after everything that is due has run. */
  readonly moveClock = (move: ExpectedFields): Effect.Effect<StepExchange, EnvironmentFailed> =>
    Effect.tap(this.#sandbox("POST", "/sandbox/clock", move), (response) =>
      Effect.sync(() => {
        if (isSuccess(response)) this.#clock = stepData(response) as ClockView
      })
    )

  /** Freezes the clock while the scenario runs, and restores it at the end. */
  readonly begin: Effect.Effect<void, EnvironmentFailed, Scope.Scope> = Effect.gen(this, function* () {
    const clockResponse = yield* this.#sandbox("GET", "/sandbox/clock")
    if (!isSuccess(clockResponse))
      return yield* new EnvironmentFailed({ message: noSandboxMessage(this.#environment.api.origin, clockResponse) })
    const { frozen } = stepData(clockResponse) as ClockView
    yield* Effect.acquireRelease(this.moveClock({ freeze: true }), () =>
      frozen ? Effect.void : Effect.orElseSucceed(this.moveClock({ freeze: false }), () => undefined)
    )
    // The faults are removed at the end, because they apply to the whole sandbox and would make the next scenario fail.
    yield* Effect.addFinalizer(() =>
      this.#areFaultsSet ? Effect.orElseSucceed(this.#sandbox("DELETE", FAULTS_PATH), () => undefined) : Effect.void
    )
  })

  /** Calls the sandbox after everything that is due has run, so that an action sees the effects. */
  readonly askSandbox = (
    method: string,
    path: string,
    body?: unknown
  ): Effect.Effect<StepExchange, EnvironmentFailed> => {
    this.#areFaultsSet ||= path === FAULTS_PATH
    return Effect.zipRight(this.moveClock({ advance_ms: 0 }), this.#sandbox(method, path, body))
  }

  /** Reads the clock before each step if it is running. */
  readonly refresh: Effect.Effect<void, EnvironmentFailed> = Effect.suspend(() =>
    this.#clock.frozen ? Effect.void : Effect.asVoid(this.moveClock({ advance_ms: 0 }))
  )

  /** The shop's receiver. A new receiver is set as the shop's webhook and gets its secret. */
  readonly receiverOf = ({ id }: ScenarioShop): Effect.Effect<ScenarioReceiver, StepFailure> =>
    Effect.gen(this, function* () {
      const existingReceiver = this.#receivers.get(id)
      if (existingReceiver !== undefined) return existingReceiver
      const receiver = yield* this.#environment.openReceiver.pipe(Scope.extend(this.#scope))
      const { method, path } = requestOf("set webhook", id)
      const response = yield* this.#sandbox(method, path, { url: receiver.url })
      const secret = fieldOf(stepData(response), "secret")
      if (typeof secret !== "string") {
        return yield* new ReferenceUnknown({
          message: `setting the webhook failed with status ${response.status}: ${JSON.stringify(response.body)}`
        })
      }
      yield* receiver.trust([secret])
      this.#receivers.set(id, receiver)
      return receiver
    })

  /** The context in which a step runs. */
  readonly makeContext = Effect.fnUntraced(function* (
    this: ScenarioRunner,
    step: Pick<Step, "shop" | "key" | "idempotency_key">,
    names: Names
  ) {
    const shop = step.shop === undefined ? this.#first : yield* this.#shopNamed(step.shop, names)
    const key = step.key === undefined ? shop.key : yield* this.#keyNamed(step.key, names)
    const resolvedKey = yield* resolve(step.idempotency_key ?? null, names)
    this.#keyCount += 1
    const idempotencyKey =
      step.idempotency_key === undefined
        ? `scenario-${this.#keyCount}`
        : resolvedKey === null
          ? null
          : String(resolvedKey)
    const listKey = (list: string) => `${shop.id} ${list}`
    const context: StepContext = {
      names,
      shop,
      key,
      idempotencyKey,
      send: this.send,
      askSandbox: this.askSandbox,
      moveClock: this.moveClock,
      receiver: this.receiverOf(shop),
      trust: (secret) => this.#receivers.get(shop.id)?.trust([secret]) ?? Effect.void,
      observedCounts: {
        get: (list) => this.#observed.get(listKey(list)) ?? 0,
        set: (list, n) => void this.#observed.set(listKey(list), n)
      }
    }
    return context
  })

  readonly #keyNamed = Effect.fnUntraced(function* (reference: string | null, names: Names) {
    if (reference === null) return null
    const key = keyOf(yield* resolve(reference, names))
    return (
      key ??
      (yield* new ReferenceUnknown({
        message: `The step's key ${reference} is neither a shop nor an API key. Write the name of a shop or of a key.`
      }))
    )
  })

  readonly #shopNamed = Effect.fnUntraced(function* (reference: string, names: Names) {
    const value = yield* resolve(reference, names)
    const id = yield* idOf(value)
    return { id, key: keyOf(value) ?? "" } satisfies ScenarioShop
  })

  /** Makes a request to the sandbox that a scenario needs before its steps. */
  readonly #make = (what: string, call: CallName, id: string, body: ExpectedFields) => {
    const { method, path } = requestOf(call, id)
    return Effect.map(requireSuccess(this.#sandbox(method, path, body), what), stepData)
  }

  /** Turns off a shop at the end of its scenario. Its data can still be read. */
  readonly #closeShop = (id: string): Effect.Effect<void> => {
    const { method, path } = requestOf("change shop", id)
    return Effect.orElseSucceed(Effect.asVoid(this.#sandbox(method, path, { active: false })), () => undefined)
  }

  readonly #openShop = Effect.fnUntraced(function* (this: ScenarioRunner, name: string, definition: GivenShop) {
    const { keys = {}, webhook, program, name: known = capitalise(name), ...settings } = definition
    const { currency, decimals, time_zone, tracking_base_url, ...changes } = settings
    const shop = omitUndefined({ currency, decimals, time_zone, tracking_base_url })
    const what = `given.shops.${name}`
    const openedShop = (yield* this.#make(what, "open shop", "", { name: known, ...DEFAULT_SHOP, ...shop })) as {
      readonly shop: { readonly id: string }
      readonly key_id: string
      readonly key: string
    }
    const handle = { ...openedShop.shop, key_id: openedShop.key_id, key: openedShop.key } satisfies ScenarioShop &
      ExpectedFields
    if (this.#values.size === 0) this.#first = handle
    if (this.#environment.isShared) yield* Scope.addFinalizer(this.#scope, this.#closeShop(handle.id))
    this.setName(name, handle)
    for (const [key, right] of Object.entries(keys)) {
      const body = { name: key, ...(typeof right === "string" ? { preset: right } : { scopes: right }) }
      this.setName(key, yield* this.#make(`${what}.keys.${key}`, "create key", handle.id, body))
    }
    if (webhook !== undefined) {
      const receiver = yield* this.receiverOf(handle)
      yield* receiver.setBehaviour(behaviourOf(webhook === true ? 200 : webhook))
    }
    const patch = omitUndefined({
      program: program === undefined ? undefined : { active: true, ...program },
      ...changes
    })
    if (Object.keys(patch).length > 0) yield* this.#make(what, "change shop", handle.id, patch)
  })

  /**
   * Finds the account with this name and phone number that an earlier scenario opened. The shops of this scenario do
   * not know it yet.
   */
  readonly #accountOf = Effect.fnUntraced(function* (this: ScenarioRunner, name: string, phone: string) {
    if (!this.#environment.isShared || this.#phones.has(phone)) return undefined
    const response = yield* this.#sandbox("GET", `/sandbox/shops/${this.#first.id}/clients`)
    const accounts = isSuccess(response) ? (stepData(response) as ReadonlyArray<ClientAccount>) : []
    return accounts.find((account) => account.phone === phone && account.display_name === name)
  })

  readonly #openAccount = Effect.fnUntraced(function* (this: ScenarioRunner, name: string, definition: GivenClient) {
    const { knows = [], phone = yield* this.#environment.nextPhone, ...rest } = definition
    const person = { given_name: capitalise(name), family_name: "Example", phone, ...rest }
    const what = `given.clients.${name}`
    const existingAccount = yield* this.#accountOf(displayName({ hide_name: false, ...person }), phone)
    this.#phones.add(phone)
    const { id } = existingAccount ?? ((yield* this.#make(what, "register", "", person)) as { readonly id: string })
    this.setName(name, { id, ...person })
    for (const reference of knows) {
      const shop_id = yield* Effect.flatMap(resolve(reference, this.currentNames()), idOf)
      yield* this.#make(`${what}.knows`, "visit", id, { shop_id })
    }
  })

  /** Creates what a scenario lists under `given`: its shops with their keys and receivers, and its clients. */
  readonly prepare = ({ shops, clients }: Scenario): Effect.Effect<void, StepFailure> =>
    Effect.zipRight(
      Effect.forEach(shops, ([name, shop]) => this.#openShop(name, shop), { discard: true }),
      Effect.forEach(clients, ([name, client]) => this.#openAccount(name, client), { discard: true })
    )
}
