import { SIGNATURE_HEADER } from "@workshop/core/internal"
import { Effect } from "effect"
import { EnvironmentFailed } from "../testkit/Api.js"
import { type CallName, requestOf } from "../testkit/Calls.js"
import type { TicketJson } from "../testkit/ResponseTypes.js"
import { DAY, HOUR, MINUTE, SECOND } from "../testkit/Time.js"
import {
  type Activity,
  Actors,
  type HeldKey,
  type KnownShop,
  type PlanContext,
  type PlannedRequest,
  planRequest,
  successData
} from "./Actors.js"
import {
  MAX_KEYS,
  planKey,
  planRegistration,
  planRevocation,
  planSwitchOn,
  planVisit,
  planWebhook,
  sandboxActivities
} from "./activities/sandbox.js"
import { drawTill, planAttempt, planPoll, planStatus, tillActivities } from "./activities/till.js"
import type { LoyaltySettings, RecordedResponse, ShopTrace, Trace } from "./auditor/Trace.js"
import { Dice } from "./Dice.js"
import { Recorder, realMs, SimulatedReceivers } from "./Observers.js"
import { readClock, type SimulationEnvironment } from "./SimulationEnvironment.js"

const [first, ...others] = [...tillActivities, ...sandboxActivities]
const ACTIVITIES: readonly [Activity, ...ReadonlyArray<Activity>] = [first!, ...others]

/** The largest number of draws to find an activity that is possible now. */
const MAX_DRAWS = 20

interface Gap {
  readonly weight: number
  readonly min: number
  readonly max: number
}

/** The time until the next activity: usually seconds, sometimes days, and rarely sixty days. */
const GAPS: readonly [Gap, ...ReadonlyArray<Gap>] = [
  { weight: 70, min: 200, max: 20 * SECOND },
  { weight: 16, min: MINUTE, max: 20 * MINUTE },
  { weight: 8, min: HOUR, max: 12 * HOUR },
  { weight: 1.6, min: DAY, max: 4 * DAY },
  { weight: 0.25, min: 60 * DAY, max: 60 * DAY }
]

/** A move of the sandbox clock, and the requests that are made at the instant after it. */
interface Leap {
  readonly clockMove: Readonly<Record<string, unknown>>
  readonly requests: ReadonlyArray<PlannedRequest> | null
}

/**
 * A move to the last instant at which a ticket may be reopened, to the instant of its closure, or to one millisecond
 * before or after one of them.
 */
const leapToEdge = (planning: PlanContext): Leap | null => {
  const { actors, dice } = planning
  const till = drawTill(planning)
  if (till === null) return null
  const edges = [...till.shop.tickets.values()].flatMap((ticket) => {
    const instant =
      ticket.state === "collected" ? ticket.collected_at : ticket.state === "ready" ? ticket.ready_at : null
    if (instant === null) return []
    const edge = Date.parse(instant) + (ticket.state === "collected" ? DAY : 60 * DAY) + dice.integerBetween(-1, 1)
    return edge > actors.now ? [{ ticket, edge }] : []
  })
  const target = dice.pick(edges)
  if (target === undefined) return null
  return {
    clockMove: { set: new Date(target.edge).toISOString() },
    requests: [planStatus(till, target.ticket, "workshop")]
  }
}

const drawLeap = (planning: PlanContext): Leap => {
  const { dice } = planning
  const edge = dice.chance(0.012) ? leapToEdge(planning) : null
  if (edge !== null) return edge
  const { min, max } = dice.pickWeighted(GAPS)
  return { clockMove: { advance_ms: dice.integerBetween(min, max) }, requests: null }
}

/** Runs a simulation, one step after another. */
class SimulationRunner {
  readonly planning: PlanContext
  readonly recorder: Recorder
  readonly #environment: SimulationEnvironment
  step = 0

  constructor(planning: PlanContext, recorder: Recorder, environment: SimulationEnvironment) {
    this.planning = planning
    this.recorder = recorder
    this.#environment = environment
  }

  /** Makes a request, records its outcome, and passes the response to the actor. */
  readonly run = (request: PlannedRequest, pauses = 0): Effect.Effect<RecordedResponse | null, EnvironmentFailed> =>
    Effect.suspend(() => {
      const startedAt = realMs()
      return Effect.map(this.#environment.send(request, pauses), (response) => {
        const ended_ms = realMs()
        this.#record(request, response)
        this.recorder.timings.push({ action: request.action, ended_ms, took_ms: ended_ms - startedAt })
        request.onResponse?.(request.fault === "lost" ? null : response)
        return response
      })
    })

  /** Makes requests concurrently, in a random order. */
  readonly runTogether = (requests: ReadonlyArray<PlannedRequest>): Effect.Effect<void, EnvironmentFailed> => {
    const { dice } = this.planning
    const requestsWithPauses = requests.map((request) => ({
      request,
      pauses: requests.length > 1 || request.fault === "cut" ? dice.integerBetween(0, 3) : 0
    }))
    return Effect.forEach(requestsWithPauses, ({ request, pauses }) => this.run(request, pauses), {
      concurrency: "unbounded",
      discard: true
    })
  }

  /** Moves the sandbox clock, which runs the closures and deliveries that become due. */
  readonly moveClock = (move: Readonly<Record<string, unknown>>): Effect.Effect<void, EnvironmentFailed> =>
    Effect.flatMap(this.run(planRequest("clock", "move the clock", null, ["move clock", "", move])), (response) =>
      response?.status === 200
        ? Effect.void
        : new EnvironmentFailed({
            message: `The sandbox clock could not be moved (${response?.status ?? "no response"}). Check that the server was started with --sandbox.`
          })
    )

  /** Lets time pass, then performs one activity or several concurrently. */
  readonly runNextStep: Effect.Effect<void, EnvironmentFailed> = Effect.suspend(() => {
    this.step += 1
    const leap = drawLeap(this.planning)
    return Effect.zipRight(
      this.moveClock(leap.clockMove),
      Effect.suspend(() => this.runTogether(leap.requests ?? this.#draw()))
    )
  })

  #draw(): ReadonlyArray<PlannedRequest> {
    const { dice } = this.planning
    const planned = this.#possible(() => true)
    if (planned === null || planned.isAlone || !dice.chance(0.3)) return planned?.requests ?? []
    const randomSteps = Array.from(
      { length: dice.integerBetween(1, 4) },
      () => this.#possible((other) => other.isAlone !== true)?.requests ?? []
    )
    return [...planned.requests, ...randomSteps.flat()]
  }

  #possible(isWanted: (activity: Activity) => boolean) {
    for (let draws = 0; draws < MAX_DRAWS; draws++) {
      const activity = this.planning.dice.pickWeighted(ACTIVITIES)
      const requests = isWanted(activity) ? activity.plan(this.planning) : null
      if (requests !== null) return { requests, isAlone: activity.isAlone === true }
    }
    return null
  }

  #record(request: PlannedRequest, response: RecordedResponse | null): void {
    const { actor, action, shop, key, method, path, query = "", idempotency_key = null, body, fault } = request
    const { actors } = this.planning
    if (path === "/sandbox/clock")
      actors.now = Date.parse((response?.body.data as { readonly now?: string } | undefined)?.now ?? "") || actors.now
    const isSeen = fault !== "lost" && response !== null
    const requestFields = { actor, action, shop, key: key?.id ?? null, method, path, query, idempotency_key, body }
    this.recorder.recordExchange({ step: this.step, now: actors.now, ...requestFields, isSeen, response })
  }
}

/** The largest number of pages that are read of one list, because a key has 120 requests per minute. */
const PAGES_A_MINUTE = 100
const MAX_PAGES = 10_000

const readAsAuditor = (
  runner: SimulationRunner,
  shop: KnownShop,
  call: CallName,
  id: string,
  key?: HeldKey,
  query = ""
) => {
  const request = { ...planRequest("auditor", "audit", shop.id, [call, id]), query }
  return runner.run(key === undefined ? request : { ...request, key })
}

const readRequired = <A>(
  runner: SimulationRunner,
  shop: KnownShop,
  call: CallName
): Effect.Effect<A, EnvironmentFailed> =>
  Effect.flatMap(readAsAuditor(runner, shop, call, shop.id), (response) => {
    const data = successData<A>(response)
    return data === null
      ? new EnvironmentFailed({
          message: `The request ${requestOf(call, shop.id).path} for the final check got the status ${response?.status}.`
        })
      : Effect.succeed(data)
  })

/** Makes a new key, because the limits of a used key may refuse requests. */
const makeFreshKey = (runner: SimulationRunner, shop: KnownShop) =>
  Effect.gen(function* () {
    if (shop.offFlag !== null) yield* runner.run(planSwitchOn(shop, shop.offFlag))
    const active = shop.keys.filter(({ isRevoked }) => !isRevoked)
    if (active.length >= MAX_KEYS) yield* runner.run(planRevocation(shop, active[0]!))
    yield* runner.run(planKey(shop, "full", "a key for the audit"))
    const key = shop.keys.at(-1)
    if (key === undefined || key.isRevoked)
      return yield* new EnvironmentFailed({
        message: `No API key could be created for the shop ${shop.id}, so its data could not be checked.`
      })
    return key
  })

/** Reads the feed to its end, as the till would. */
const catchUp = (runner: SimulationRunner, shop: KnownShop, key: HeldKey) =>
  Effect.gen(function* () {
    for (let pages = 1; pages < MAX_PAGES; pages++) {
      const response = yield* runner.run(planPoll({ shop, key }, 100))
      if (response?.status === 429 || pages % PAGES_A_MINUTE === 0) yield* runner.moveClock({ advance_ms: 61_000 })
      else if (response?.status !== 200) return
      // Another round follows, because the previous round may have begun before the last changes.
      if (response?.status === 200 && response.body.meta?.has_more === false && pages > 1) return
    }
  })

const listTickets = (runner: SimulationRunner, shop: KnownShop, key: HeldKey) =>
  Effect.gen(function* () {
    const tickets: Array<TicketJson> = []
    let cursor: string | null = null
    for (let pages = 1; pages < MAX_PAGES; pages++) {
      const query = new URLSearchParams({ limit: "100", ...(cursor === null ? {} : { cursor }) })
      const response = yield* readAsAuditor(runner, shop, "list tickets", "", key, query.toString())
      if (response?.status === 429) {
        yield* runner.moveClock({ advance_ms: 61_000 })
        continue
      }
      tickets.push(...(successData<ReadonlyArray<TicketJson>>(response) ?? []))
      cursor = (response?.body.meta?.next_cursor as string | null | undefined) ?? null
      if (cursor === null) break
    }
    return tickets
  })

const closeShop = (
  runner: SimulationRunner,
  shop: KnownShop,
  key: HeldKey
): Effect.Effect<ShopTrace, EnvironmentFailed> =>
  Effect.gen(function* () {
    const { clients } = runner.planning.actors
    const listed = yield* listTickets(runner, shop, key)
    const cards = yield* Effect.forEach(clients, ({ id }) =>
      Effect.map(readAsAuditor(runner, shop, "get loyalty", id, key), (response) => ({
        client: id,
        status: response?.status ?? 0,
        data: successData<LoyaltySettings>(response)
      }))
    )
    return {
      id: shop.id,
      time_zone: shop.time_zone,
      webhook: shop.isWebhookSet
        ? yield* readRequired<NonNullable<ShopTrace["webhook"]>>(runner, shop, "get webhook")
        : null,
      events: yield* readRequired<ShopTrace["events"]>(runner, shop, "list events"),
      deliveries: yield* readRequired<ShopTrace["deliveries"]>(runner, shop, "list deliveries"),
      notices: yield* readRequired<ShopTrace["notices"]>(runner, shop, "list notices"),
      listed,
      synced: [...shop.feed.tickets.values()],
      cards
    }
  })

/** Repeats each request that got no response. */
const settleOpenAttempts = (runner: SimulationRunner) =>
  Effect.forEach(runner.planning.actors.shops, (shop) =>
    Effect.forEach([...shop.openAttempts], (attempt, i) =>
      Effect.zipRight(
        i % 20 === 0 ? runner.moveClock({ advance_ms: 61_000 }) : Effect.void,
        runner.run(planAttempt(shop, attempt, "plain", `repeat ${attempt.action}`))
      )
    )
  )

/** Ends a simulation: repeats the requests without a response, and reads everything that the auditor needs. */
const closeSimulation = (runner: SimulationRunner, started_at: number): Effect.Effect<Trace, EnvironmentFailed> =>
  Effect.gen(function* () {
    const { actors } = runner.planning
    runner.step += 1
    yield* settleOpenAttempts(runner)
    yield* runner.moveClock({ advance_ms: 61_000 })
    const keys = yield* Effect.forEach(actors.shops, (shop) => makeFreshKey(runner, shop))
    yield* runner.moveClock({ advance_ms: 1 })
    yield* Effect.forEach(actors.shops, (shop, i) => catchUp(runner, shop, keys[i]!))
    yield* runner.moveClock({ advance_ms: 61_000 })
    yield* Effect.forEach(actors.shops, (shop, i) => catchUp(runner, shop, keys[i]!))
    const shops = yield* Effect.forEach(actors.shops, (shop, i) => closeShop(runner, shop, keys[i]!))
    return {
      started_at,
      ended_at: actors.now,
      exchanges: runner.recorder.exchanges,
      receptions: runner.recorder.receptions,
      shops,
      clients: actors.clients.map(({ id, phone }) => ({ id, phone }))
    }
  })

const ZONES = ["Africa/Tunis", "Europe/Paris", "America/New_York", "Asia/Kolkata"] as const

/** The number of clients for each shop when a simulation begins. */
const CLIENTS_PER_SHOP = 3

interface OpenedShop {
  readonly shop: { readonly id: string }
  readonly key_id: string
  readonly key: string
}

/** Opens a shop with a full-access key. */
const openShop = ({ run, planning: { actors, dice } }: SimulationRunner) =>
  Effect.gen(function* () {
    const name = actors.freshName("Shop")
    const time_zone = dice.oneOf(ZONES)
    const body = { name, currency: "TND", decimals: 3, time_zone, tracking_base_url: "https://track.example.com" }
    const openedShop = successData<OpenedShop>(
      yield* run(planRequest("owner", "open a shop", null, ["open shop", "", body]))
    )
    if (openedShop === null)
      return yield* new EnvironmentFailed({
        message: "No shop could be created. Check that the server was started with --sandbox."
      })
    const shop: KnownShop = {
      id: openedShop.shop.id,
      name,
      time_zone,
      keys: [{ id: openedShop.key_id, text: openedShop.key, scopes: "full", isRevoked: false }],
      tickets: new Map(),
      openAttempts: [],
      doneAttempts: [],
      feed: { updated_since: new Date(actors.now).toISOString(), cursor: null, tickets: new Map() },
      isWebhookSet: false,
      offFlag: null,
      events: []
    }
    actors.shops.push(shop)
    return shop
  })

/** The requests that give a shop its programme, its keys and, in most cases, a webhook. */
const planPreparation = ({ planning }: SimulationRunner, shop: KnownShop): ReadonlyArray<PlannedRequest> => {
  const { dice } = planning
  const program = {
    active: true,
    name: "Stamps",
    stamps_required: dice.integerBetween(3, 10),
    stamps_per_ticket: 1,
    reward_label: "A hem"
  }
  // Some shops begin near the last number, so that the numbers start again during the run.
  const next_number = dice.chance(0.5) ? { next_number: dice.integerBetween(9950, 9999) } : {}
  const change = planRequest("owner", "prepare", shop.id, ["change shop", shop.id, { program, ...next_number }])
  const webhook = dice.chance(0.8) ? [planWebhook(shop, planning)] : []
  return [change, planKey(shop, "full"), planKey(shop, "read"), ...webhook]
}

/** Freezes the clock, opens the shops and the clients' accounts, each at a different instant. */
const openSimulation = (runner: SimulationRunner, shops: number): Effect.Effect<void, EnvironmentFailed> =>
  Effect.gen(function* () {
    const { actors } = runner.planning
    const runAlone = (request: PlannedRequest) =>
      Effect.zipRight(runner.moveClock({ advance_ms: 1000 }), runner.run(request))
    yield* runner.moveClock({ freeze: true })
    for (let i = 0; i < shops; i++) {
      yield* runner.moveClock({ advance_ms: 1000 })
      const shop = yield* openShop(runner)
      for (const request of planPreparation(runner, shop)) yield* runAlone(request)
    }
    for (let i = 0; i < shops * CLIENTS_PER_SHOP; i++) yield* runAlone(planRegistration(runner.planning))
    for (const [i, client] of actors.clients.entries())
      yield* runAlone(planVisit(client, actors.shops[i % actors.shops.length]!))
  })

/** The seed and the size of a simulation. */
export interface SimulationBounds {
  /** The seed, which determines every activity and every fault of the run. */
  readonly seed: number
  /** The number of activities of the shops, clients and owners. */
  readonly steps: number
  /** The number of shops. */
  readonly shops: number
  /** The number of names and phone numbers to skip, for a service that may have had the same run before; 0 by default. */
  readonly namesToSkip?: number
}

/** The observers of a simulation, which take no part in it. */
export interface Observers {
  readonly recorder: Recorder
  readonly receivers: SimulatedReceivers
}

/**
 * The recorder and the receivers. They have their own dice, because their draws would otherwise change the activities.
 */
export const makeObservers = (seed: number, signatureHeader = SIGNATURE_HEADER): Observers => {
  const recorder = new Recorder()
  return { recorder, receivers: new SimulatedReceivers(new Dice(seed + 0x5eed), recorder, signatureHeader) }
}

/** The progress of a simulation. */
export interface SimulationProgress {
  readonly step: number
  readonly now: number
  readonly requests: number
  readonly deliveries: number
}

/** Ends a simulation early, and reports its progress. */
export interface SimulationControl {
  readonly isOver: () => boolean
  readonly progress: (progress: SimulationProgress) => Effect.Effect<void>
}

/** Runs a simulation on a service, and collects what the auditor needs. */
export const runSimulation = (
  environment: SimulationEnvironment,
  { recorder, receivers }: Observers,
  bounds: SimulationBounds,
  control: SimulationControl
): Effect.Effect<Trace, EnvironmentFailed> =>
  Effect.gen(function* () {
    const actors = new Actors(bounds.namesToSkip)
    const planning = { actors, receivers, dice: new Dice(bounds.seed), receiverOf: environment.receiverOf }
    const runner = new SimulationRunner(planning, recorder, environment)
    const { now: started_at } = yield* readClock(environment)
    actors.now = started_at
    yield* openSimulation(runner, bounds.shops)
    while (runner.step < bounds.steps && !control.isOver()) {
      yield* runner.runNextStep
      yield* control.progress({
        step: runner.step,
        now: actors.now,
        requests: recorder.exchanges.length,
        deliveries: recorder.receptions.length
      })
    }
    return yield* closeSimulation(runner, started_at)
  })
