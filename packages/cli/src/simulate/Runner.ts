import { Effect } from "effect"
import { requestOf } from "../testkit/Actors.js"
import { DAY, HOUR, MINUTE, SECOND } from "../testkit/Time.js"
import type { Activity, PlannedRequest, Planning } from "./Actors.js"
import { sandboxActivities } from "./activities/sandbox.js"
import { drawTill, statusOf, tillActivities } from "./activities/till.js"
import type { RecordedResponse } from "./auditor/Trace.js"
import { type Environment, EnvironmentFailed } from "./Environment.js"
import { type Recorder, realMs } from "./Recorder.js"

const [first, ...others] = [...tillActivities, ...sandboxActivities]
const ACTIVITIES: readonly [Activity, ...ReadonlyArray<Activity>] = [first!, ...others]

/** The most draws for an activity that can be done now. */
const MAX_DRAWS = 20

interface Gap {
  readonly weight: number
  readonly least: number
  readonly most: number
}

/** The time until the next activity: mostly seconds, at times days, and rarely sixty days. */
const GAPS: readonly [Gap, ...ReadonlyArray<Gap>] = [
  { weight: 70, least: 200, most: 20 * SECOND },
  { weight: 16, least: MINUTE, most: 20 * MINUTE },
  { weight: 8, least: HOUR, most: 12 * HOUR },
  { weight: 1.6, least: DAY, most: 4 * DAY },
  { weight: 0.25, least: 60 * DAY, most: 60 * DAY }
]

/** A move of the sandbox clock, and what is tried at the very instant it leads to. */
interface Leap {
  readonly move: Readonly<Record<string, unknown>>
  readonly there: ReadonlyArray<PlannedRequest> | null
}

/** To the last instant at which a ticket may be reopened, or at which it closes; or one millisecond beside it. */
const toEdge = (planning: Planning): Leap | null => {
  const { actors, dice } = planning
  const till = drawTill(planning)
  if (till === null) return null
  const edges = [...till.shop.tickets.values()].flatMap((ticket) => {
    const of = ticket.state === "collected" ? ticket.collected_at : ticket.state === "ready" ? ticket.ready_at : null
    if (of === null) return []
    const edge = Date.parse(of) + (ticket.state === "collected" ? DAY : 60 * DAY) + dice.between(-1, 1)
    return edge > actors.now ? [{ ticket, edge }] : []
  })
  const found = dice.pick(edges)
  if (found === undefined) return null
  return {
    move: { set: new Date(found.edge).toISOString() },
    there: [statusOf(till, found.ticket, "workshop")]
  }
}

const drawLeap = (planning: Planning): Leap => {
  const { dice } = planning
  const edge = dice.chance(0.012) ? toEdge(planning) : null
  if (edge !== null) return edge
  const { least, most } = dice.weighted(GAPS)
  return { move: { advance_ms: dice.between(least, most) }, there: null }
}

/** Runs a simulation, one step after another. */
export class Runner {
  readonly planning: Planning
  readonly recorder: Recorder
  readonly #environment: Environment
  step = 0

  constructor(planning: Planning, recorder: Recorder, environment: Environment) {
    this.planning = planning
    this.recorder = recorder
    this.#environment = environment
  }

  /** Makes a request, records what came of it, and hands the response to the actor. */
  readonly run = (request: PlannedRequest, pauses = 0): Effect.Effect<RecordedResponse | null, EnvironmentFailed> =>
    Effect.suspend(() => {
      const began = realMs()
      return Effect.map(this.#environment.ask(request, pauses), (response) => {
        const ended_ms = realMs()
        this.#record(request, response)
        this.recorder.timings.push({ act: request.act, ended_ms, took_ms: ended_ms - began })
        request.onResponse?.(request.fault === "lost" ? null : response)
        return response
      })
    })

  /** Makes requests at once, in an order that the dice decide. */
  readonly together = (requests: ReadonlyArray<PlannedRequest>): Effect.Effect<void, EnvironmentFailed> => {
    const { dice } = this.planning
    const drawn = requests.map((request) => ({
      request,
      pauses: requests.length > 1 || request.fault === "cut" ? dice.between(0, 3) : 0
    }))
    return Effect.forEach(drawn, ({ request, pauses }) => this.run(request, pauses), {
      concurrency: "unbounded",
      discard: true
    })
  }

  /** Moves the sandbox clock; everything due on the way happens. */
  readonly moveClock = (move: Readonly<Record<string, unknown>>): Effect.Effect<void, EnvironmentFailed> =>
    Effect.flatMap(
      this.run({ actor: "clock", act: "move the clock", shop: null, ...requestOf("move clock"), body: move }),
      (response) =>
        response?.status === 200
          ? Effect.void
          : new EnvironmentFailed({
              message: `The sandbox clock does not move (${response?.status ?? "cut off"}): is the server started with --sandbox?`
            })
    )

  /** Lets time pass, then does one activity, or several at once. */
  readonly next: Effect.Effect<void, EnvironmentFailed> = Effect.suspend(() => {
    this.step += 1
    const leap = drawLeap(this.planning)
    return Effect.zipRight(
      this.moveClock(leap.move),
      Effect.suspend(() => this.together(leap.there ?? this.#draw()))
    )
  })

  #draw(): ReadonlyArray<PlannedRequest> {
    const { dice } = this.planning
    const drawn = this.#possible(() => true)
    if (drawn === null || drawn.isAlone || !dice.chance(0.3)) return drawn?.requests ?? []
    const more = Array.from(
      { length: dice.between(1, 4) },
      () => this.#possible((other) => other.isAlone !== true)?.requests ?? []
    )
    return [...drawn.requests, ...more.flat()]
  }

  #possible(fits: (activity: Activity) => boolean) {
    for (let draws = 0; draws < MAX_DRAWS; draws++) {
      const activity = this.planning.dice.weighted(ACTIVITIES)
      const requests = fits(activity) ? activity.plan(this.planning) : null
      if (requests !== null) return { requests, isAlone: activity.isAlone === true }
    }
    return null
  }

  #record(request: PlannedRequest, answer: RecordedResponse | null): void {
    const { actor, act, shop, key, method, path, query = "", once = null, body, fault } = request
    const { actors } = this.planning
    if (path === "/sandbox/clock")
      actors.now = Date.parse((answer?.body.data as { readonly now?: string } | undefined)?.now ?? "") || actors.now
    const isSeen = fault !== "lost" && answer !== null
    const asked = { actor, act, shop, key: key?.id ?? null, method, path, query, once, body }
    this.recorder.exchanged({ step: this.step, now: actors.now, ...asked, isSeen, answer })
  }
}
