import { Clock, Duration, Effect, type Fiber, type Scheduler } from "effect"
import { Dice } from "../../packages/testers/src/simulate/Dice.js"

/** The instant at which every run begins, a Friday morning. */
export const START = Date.parse("2026-11-20T08:00:00.000Z")

/** Durations in milliseconds. They are defined here, because the judges must not share code with the service. */
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE

/** The random draws of the simulation, including random bytes. */
export class Draws extends Dice {
  override oneOf<A>(all: ReadonlyArray<A>): A {
    return this.pick(all)!
  }

  bytes(n: number): Uint8Array {
    return Uint8Array.from({ length: n }, () => this.integerBetween(0, 255))
  }
}

interface Timer {
  readonly at: number
  readonly seq: number
  readonly machine: Machine | null
  readonly fire: () => void
  isCancelled: boolean
}

/**
 * A machine on which a process runs. It schedules the fibers and the timers of the process, and its clock may be wrong.
 * A stopped machine runs nothing until it resumes, and a dead one never does.
 */
export class Machine implements Scheduler.Scheduler {
  readonly name: string
  readonly #simulation: Simulation
  readonly #tasks: Array<() => void> = []
  #held: Array<() => void> = []
  isStopped = false
  isDead = false
  /** The milliseconds by which the wall clock of the machine is ahead. */
  clock_off_ms = 0

  constructor(name: string, simulation: Simulation) {
    this.name = name
    this.#simulation = simulation
    simulation.machines.push(this)
  }

  shouldYield(fiber: Fiber.RuntimeFiber<unknown, unknown>): number | false {
    return fiber.currentOpCount > 2048 ? 0 : false
  }

  scheduleTask(task: () => void): void {
    this.#tasks.push(task)
  }

  get isReady(): boolean {
    return !this.isStopped && !this.isDead && this.#tasks.length > 0
  }

  runOne(): void {
    const task = this.#tasks.shift()
    const before = this.#simulation.current
    this.#simulation.current = this
    task?.()
    this.#simulation.current = before
  }

  /** Runs the function of a timer, or postpones it until the machine resumes. */
  fire(work: () => void): void {
    if (this.isStopped || this.isDead) this.#held.push(work)
    else work()
  }

  goOn(): void {
    this.isStopped = false
    const held = this.#held
    this.#held = []
    for (const work of held) work()
  }

  /** Ends the machine: it runs nothing any more. */
  die(): void {
    this.isDead = true
  }

  /** Runs the remaining work after a run, so that no fiber stays in memory. */
  finish(): void {
    this.isDead = false
    this.goOn()
  }

  /**
   * The machine's clocks: a wall clock, which may be wrong, and a monotonic clock, which follows the simulation's time.
   */
  readonly clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => this.wall,
    unsafeCurrentTimeNanos: () => BigInt(this.#simulation.now) * 1_000_000n,
    currentTimeMillis: Effect.sync(() => this.wall),
    currentTimeNanos: Effect.sync(() => BigInt(this.#simulation.now) * 1_000_000n),
    sleep: (duration) =>
      Effect.async<void>((resume) =>
        this.#simulation.cancelling(
          this.#simulation.later(Duration.toMillis(duration), () => resume(Effect.void), this)
        )
      )
  }

  get wall(): number {
    return START + this.#simulation.now + this.#simulation.ahead_ms + this.clock_off_ms
  }
}

/**
 * A discrete-event simulation: it advances the time of all machines, and decides which one runs next. It does not wait
 * in real time.
 */
export class Simulation {
  /** Milliseconds since the run began. */
  now = 0
  /** The milliseconds by which the clocks of all machines are ahead. */
  ahead_ms = 0
  readonly machines: Array<Machine> = []
  readonly draws: Draws
  /** The machine that runs now. */
  current: Machine | null = null
  /** The timers, latest first, so that the next one is at the end. */
  readonly #timers: Array<Timer> = []
  #seq = 0

  constructor(seed: number) {
    this.draws = new Draws(seed)
  }

  /** Calls `fire` after `ms`; with a machine, only while it runs. */
  later(ms: number, fire: () => void, machine: Machine | null = null): Timer {
    const timer = { at: this.now + Math.max(0, ms), seq: this.#seq++, machine, fire, isCancelled: false }
    let place = this.#timers.length
    while (place > 0 && this.#timers[place - 1]!.at <= timer.at) place--
    this.#timers.splice(place, 0, timer)
    return timer
  }

  /** An effect that cancels a timer. */
  cancelling(timer: Timer): Effect.Effect<void> {
    return Effect.sync(() => {
      timer.isCancelled = true
    })
  }

  /** Advances the time by `ms`. The order in which machines run is random. */
  pass(ms: number): void {
    const end = this.now + ms
    while (true) {
      this.#settle()
      const next = this.#timers.at(-1)
      if (next === undefined || next.at > end) break
      this.#timers.pop()
      this.now = Math.max(this.now, next.at)
      if (next.isCancelled) continue
      if (next.machine === null) next.fire()
      else next.machine.fire(next.fire)
    }
    this.now = end
  }

  /** Advances the time by `ms` without firing timers, as when the host of all machines is suspended. */
  leap(ms: number): void {
    this.#settle()
    this.now += ms
  }

  #settle(): void {
    while (true) {
      const ready = this.machines.filter(({ isReady }) => isReady)
      if (ready.length === 0) return
      const machine = ready.length === 1 ? ready[0]! : this.draws.oneOf(ready)
      for (let turns = this.draws.integerBetween(1, 4); turns > 0 && machine.isReady; turns--) machine.runOne()
    }
  }
}

type Timers = Pick<typeof globalThis, "setTimeout" | "clearTimeout" | "setInterval" | "clearInterval">

/**
 * Runs a function with the platform's timers replaced, so that they wait in the simulation's time instead of real time.
 */
export const withTimersOf = <A>(simulation: Simulation, run: () => A): A => {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis
  const real: Timers = { setTimeout, clearTimeout, setInterval, clearInterval }
  const clear = (timer: unknown) => {
    if (timer !== undefined) (timer as Timer).isCancelled = true
  }
  const own = {
    setTimeout: (work: () => void, ms = 0) => simulation.later(ms, work, simulation.current),
    clearTimeout: clear,
    // Only Effect's `never` uses an interval, to keep the process alive.
    setInterval: () => simulation.later(Number.MAX_SAFE_INTEGER, () => {}),
    clearInterval: clear
  }
  Object.assign(globalThis, own)
  try {
    return run()
  } finally {
    Object.assign(globalThis, real)
  }
}
