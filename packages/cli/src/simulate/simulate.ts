import { randomInt } from "node:crypto"
import type { Entropy, StorePorts } from "@workshop/core"
import { pluralize } from "@workshop/core/internal/terminal"
import * as MemoryStore from "@workshop/store-memory"
import {
  audit,
  clockWarning,
  computeLatencies,
  countTrace,
  findShortestRun,
  formatRepeatCommand,
  htmlReport,
  inProcessSimulation,
  makeObservers,
  type Observers,
  realMs,
  remoteSimulation,
  runSimulation,
  type SimulationBounds,
  type SimulationControl,
  type Summary,
  simulatedServiceLayer,
  type Trace,
  textReport,
  type Violation,
  violationScenario,
  withClockRestored
} from "@workshop/testers/internal/simulate"
import { Console, Effect, Fiber, type Layer, type Scope } from "effect"
import { type CommandRefused, refuse, toCommandRefused } from "../CommandRefused.js"
import { type StoreChoice, storeLayer } from "../database/StoreChoice.js"
import { paintFor, widthFor, writeReport } from "../terminal/Output.js"
import { progressBar } from "./ProgressBar.js"
import { MAX_SEED, type SimulateFlags } from "./SimulateOptions.js"

/**
 * A seed gives the same run only on the memory store, because only the memory store takes its randomness from the
 * simulation.
 */
const chooseStore = (
  choice: Pick<StoreChoice, "store" | "databaseUrl" | "dataDir">
): Layer.Layer<StorePorts, CommandRefused, Entropy> =>
  choice.store === "memory" ? MemoryStore.layer : storeLayer({ ...choice, migrate: true })

const STEPS_BETWEEN_YIELDS = 25

/** Lets the event loop handle signals and sockets. */
const yieldToEventLoop = Effect.async<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

interface SimulationRun {
  readonly trace: Trace
  /** A sentence about the clock of a running server. */
  readonly clock: string | null
}

const playSimulation = (
  flags: SimulateFlags,
  bounds: SimulationBounds,
  observers: Observers,
  control: SimulationControl
): Effect.Effect<SimulationRun, CommandRefused, Scope.Scope> => {
  if (flags.baseUrl !== null)
    return Effect.flatMap(remoteSimulation(flags.baseUrl, flags.sandboxToken, observers.receivers), (environment) =>
      withClockRestored(environment, runSimulation(environment, observers, bounds, control))
    ).pipe(
      Effect.map(({ result: trace, clock }) => ({ trace, clock })),
      Effect.mapError(toCommandRefused)
    )
  return Effect.flatMap(inProcessSimulation, (environment) =>
    runSimulation(environment, observers, bounds, control)
  ).pipe(
    Effect.map((trace) => ({ trace, clock: null })),
    Effect.provide(simulatedServiceLayer(chooseStore(flags), bounds.seed, observers.receivers)),
    Effect.mapError(toCommandRefused)
  )
}

/**
 * Runs an effect to its end. An interruption runs `stop`, after which the effect ends early and returns its result so
 * far.
 */
const runUntilStopped = <A, E, R>(run: Effect.Effect<A, E, R>, stop: Effect.Effect<void>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      // The fiber is a daemon, because an interruption of the parent would interrupt a child, and this one must finish.
      const fiber = yield* Effect.forkDaemon(Effect.interruptible(run))
      yield* Effect.onInterrupt(restore(Fiber.await(fiber)), () => stop).pipe(Effect.exit)
      return yield* Fiber.join(fiber)
    })
  )

/** True if the service begins empty, so that a seed always gives the same run. */
const isInitiallyEmpty = ({ store, baseUrl }: SimulateFlags): boolean => store === "memory" && baseUrl === null

/** Repeats a run with fewer steps. */
const makeRepeat = (flags: SimulateFlags, bounds: SimulationBounds) => (steps: number) => {
  const observers = makeObservers(bounds.seed, flags.signatureHeader)
  const control = { isOver: () => false, progress: () => yieldToEventLoop }
  const played = playSimulation(flags, { ...bounds, steps }, observers, control)
  return Effect.scoped(Effect.map(played, ({ trace }) => trace))
}

/** Writes the first violation as a scenario of the shortest run that has it, if the run can be repeated exactly. */
const writeScenario = Effect.fnUntraced(function* (
  flags: SimulateFlags,
  bounds: SimulationBounds,
  trace: Trace,
  [first]: ReadonlyArray<Violation>
) {
  if (flags.scenario === null || first === undefined) return
  const { rule_at } = first
  const run = { trace, steps: bounds.steps }
  const shortestRun = isInitiallyEmpty(flags) ? yield* findShortestRun(run, rule_at, makeRepeat(flags, bounds)) : run
  const violation = audit(shortestRun.trace).find((one) => one.rule_at === rule_at) ?? first
  const command = formatRepeatCommand(flags, { ...bounds, steps: shortestRun.steps })
  yield* writeReport("--scenario", flags.scenario, violationScenario(shortestRun.trace, violation, command))
})

/** The largest number of names and phone numbers to skip, so that the numbers of a run still fit in a phone number. */
const MAX_NAMES_TO_SKIP = 9_000_000

/** The work of `workshop simulate` (Specification, Commands). */
export const simulate = (flags: SimulateFlags): Effect.Effect<void, CommandRefused> =>
  Effect.gen(function* () {
    const bounds = {
      seed: flags.seed ?? randomInt(MAX_SEED),
      steps: flags.steps,
      shops: flags.shops,
      namesToSkip: isInitiallyEmpty(flags) ? 0 : randomInt(MAX_NAMES_TO_SKIP)
    }
    if (flags.baseUrl !== null) yield* Console.error(clockWarning("The simulation moves", flags.baseUrl))
    const observers = makeObservers(bounds.seed, flags.signatureHeader)
    const bar = progressBar(bounds.steps, process.stderr)
    const began_ms = realMs()
    let stopReason: string | null = null
    let steps = 0
    const isLate = () => flags.duration !== null && realMs() - began_ms > flags.duration
    const control: SimulationControl = {
      isOver: () => {
        if (stopReason === null && isLate())
          stopReason = "Stopped at the end of --duration. Another run with the same seed may get further."
        return stopReason !== null
      },
      progress: (progress) => {
        steps = progress.step
        return Effect.zipRight(bar.show(progress), steps % STEPS_BETWEEN_YIELDS === 0 ? yieldToEventLoop : Effect.void)
      }
    }
    const stop = Effect.sync(() => {
      stopReason = "Stopped by a signal. This is the result so far."
    })
    const repeatCommandSoFar = () =>
      formatRepeatCommand(flags, { ...bounds, steps: stopReason === null ? bounds.steps : Math.max(1, steps) })
    const withRepetition = (why: CommandRefused) =>
      steps === 0 ? why : refuse(`${why.message} Repeat the run with ${repeatCommandSoFar()}`)
    yield* runUntilStopped(
      Effect.gen(function* () {
        const { trace, clock } = yield* playSimulation(flags, bounds, observers, control).pipe(
          Effect.mapError(withRepetition),
          Effect.ensuring(bar.clear)
        )
        const took_ms = realMs() - began_ms
        const summary: Summary = {
          seed: bounds.seed,
          digest: observers.recorder.digest(),
          counts: countTrace(trace, steps),
          violations: audit(trace)
        }
        const { timings } = observers.recorder
        const report = {
          summary,
          latencies: computeLatencies(timings),
          took_ms,
          command: repeatCommandSoFar(),
          stopped: stopReason,
          clock
        }
        if (flags.html !== null) yield* writeReport("--html", flags.html, htmlReport(report, trace, timings))
        yield* writeScenario(flags, { ...bounds, steps }, trace, summary.violations)
        const lines = flags.json
          ? [JSON.stringify(summary)]
          : textReport(report, { paint: paintFor(), width: widthFor() })
        yield* Console.log(lines.join("\n"))
        const { length } = summary.violations
        if (length === 0) return
        const violated = `${pluralize(length, "invariant")} ${length === 1 ? "was" : "were"} violated`
        return yield* refuse(`${violated}. Repeat the run with ${report.command}`)
      }).pipe(Effect.scoped),
      stop
    )
  })
