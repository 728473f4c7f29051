import { SIGNATURE_HEADER } from "@workshop/core"
import { Effect } from "effect"
import { requestOf } from "../testkit/Actors.js"
import { Actors, type KnownShop, type PlannedRequest, successOf } from "./Actors.js"
import { makingKey, registering, settingWebhook, visiting } from "./activities/sandbox.js"
import type { Trace } from "./auditor/Trace.js"
import { closing } from "./closing.js"
import { Dice } from "./Dice.js"
import { type Environment, EnvironmentFailed, readClock } from "./Environment.js"
import { Receivers } from "./Receivers.js"
import { Recorder } from "./Recorder.js"
import { Runner } from "./Runner.js"

const ZONES = ["Africa/Tunis", "Europe/Paris", "America/New_York", "Asia/Kolkata"] as const

/** The number of clients for each shop when a simulation begins. */
const CLIENTS_PER_SHOP = 3

interface Opened {
  readonly shop: { readonly id: string }
  readonly key_id: string
  readonly key: string
}

/** Opens a shop with a full-access key. */
const openShop = ({ run, planning: { actors, dice } }: Runner) =>
  Effect.gen(function* () {
    const name = actors.fresh("Shop")
    const time_zone = dice.oneOf(ZONES)
    const body = { name, currency: "TND", decimals: 3, time_zone, tracking_base_url: "https://track.example.com" }
    const request = { actor: "owner", act: "open a shop", shop: null, ...requestOf("open shop"), body }
    const opened = successOf<Opened>(yield* run(request))
    if (opened === null)
      return yield* new EnvironmentFailed({ message: "No shop can be opened: is the server started with --sandbox?" })
    const shop: KnownShop = {
      id: opened.shop.id,
      name,
      time_zone,
      keys: [{ id: opened.key_id, text: opened.key, scopes: "full", isRevoked: false }],
      tickets: new Map(),
      open: [],
      done: [],
      feed: { updated_since: new Date(actors.now).toISOString(), cursor: null, tickets: new Map() },
      isWebhookSet: false,
      off: null,
      events: []
    }
    actors.shops.push(shop)
    return shop
  })

/** Gives a shop its programme, its keys and mostly a webhook. */
const preparing = ({ planning }: Runner, shop: KnownShop): ReadonlyArray<PlannedRequest> => {
  const { dice } = planning
  const program = {
    active: true,
    name: "Stamps",
    stamps_required: dice.between(3, 10),
    stamps_per_ticket: 1,
    reward_label: "A hem"
  }
  // Near the end of the numbers, so that they start again during the run.
  const next_number = dice.chance(0.5) ? { next_number: dice.between(9950, 9999) } : {}
  const request = requestOf("change shop", shop.id)
  const change = { actor: "owner", act: "furnish", shop: shop.id, ...request, body: { program, ...next_number } }
  const webhook = dice.chance(0.8) ? [settingWebhook(shop, planning)] : []
  return [change, makingKey(shop, "full"), makingKey(shop, "read"), ...webhook]
}

/** Freezes the clock, opens the shops and the clients' accounts, each at an instant of its own. */
const opening = (runner: Runner, shops: number): Effect.Effect<void, EnvironmentFailed> =>
  Effect.gen(function* () {
    const { actors } = runner.planning
    const alone = (request: PlannedRequest) =>
      Effect.zipRight(runner.moveClock({ advance_ms: 1000 }), runner.run(request))
    yield* runner.moveClock({ freeze: true })
    for (let i = 0; i < shops; i++) {
      yield* runner.moveClock({ advance_ms: 1000 })
      const shop = yield* openShop(runner)
      for (const request of preparing(runner, shop)) yield* alone(request)
    }
    for (let i = 0; i < shops * CLIENTS_PER_SHOP; i++) yield* alone(registering(runner.planning))
    for (const [i, client] of actors.clients.entries())
      yield* alone(visiting(client, actors.shops[i % actors.shops.length]!))
  })

/** The seed and the size of a simulation. */
export interface Bounds {
  readonly seed: number
  readonly steps: number
  readonly shops: number
  /** Names and phone numbers begin after so many, for a service that may have had this run before. */
  readonly taken?: number
}

/** Those who see a simulation, apart from those who act in it. */
export interface Observers {
  readonly recorder: Recorder
  readonly receivers: Receivers
}

/** The recorder and the receivers. Their dice are not those of the activities, which could otherwise change with them. */
export const observersOf = (seed: number, signatureHeader = SIGNATURE_HEADER): Observers => {
  const recorder = new Recorder()
  return { recorder, receivers: new Receivers(new Dice(seed + 0x5eed), recorder, signatureHeader) }
}

/** The progress of a simulation. */
export interface Progress {
  readonly step: number
  readonly now: number
  readonly requests: number
  readonly deliveries: number
}

/** Ends a simulation early, and reports its progress. */
export interface Control {
  readonly isOver: () => boolean
  readonly progress: (progress: Progress) => Effect.Effect<void>
}

/** Runs a simulation on a service, and gathers what the auditor needs. */
export const simulation = (
  environment: Environment,
  { recorder, receivers }: Observers,
  bounds: Bounds,
  control: Control
): Effect.Effect<Trace, EnvironmentFailed> =>
  Effect.gen(function* () {
    const actors = new Actors(bounds.taken)
    const planning = { actors, receivers, dice: new Dice(bounds.seed), receiverOf: environment.receiverOf }
    const runner = new Runner(planning, recorder, environment)
    const { now: started_at } = yield* readClock(environment)
    actors.now = started_at
    yield* opening(runner, bounds.shops)
    while (runner.step < bounds.steps && !control.isOver()) {
      yield* runner.next
      yield* control.progress({
        step: runner.step,
        now: actors.now,
        requests: recorder.exchanges.length,
        deliveries: recorder.receptions.length
      })
    }
    return yield* closing(runner, started_at)
  })
