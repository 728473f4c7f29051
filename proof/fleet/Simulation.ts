import { Clock, Duration, Effect, type Fiber, type Scheduler } from "effect"
import { Dice } from "../../packages/cli/src/testers/simulate/Dice.js"

/** When every run begins: a Friday morning. */
export const START = Date.parse("2026-11-20T08:00:00.000Z")

/** Spans in milliseconds. They are written here, because the judges share no code with the service. */
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE

/** The simulation's draws, and bytes. */
export class Draws extends Dice {
  override oneOf<A>(all: ReadonlyArray<A>): A {
    return this.pick(all)!
  }

  bytes(n: number): Uint8Array {
    return Uint8Array.from({ length: n }, () => this.between(0, 255))
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
 * A machine on which a process runs: its fibers take turns here, its timers wait here, and its clock may be wrong. Stopped, nothing
 * of it runs until it goes on; dead, nothing ever does.
 */
export class Machine implements Scheduler.Scheduler {
  readonly name: string
  readonly #simulation: Simulation
  readonly #tasks: Array<() => void> = []
  #held: Array<() => void> = []
  isStopped = false
  isDead = false
  /** By how much its wall clock is off, in milliseconds. */
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

  /** Runs a timer's work, or holds it until the machine goes on. */
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

  /** From now on nothing of it runs. */
  die(): void {
    this.isDead = true
  }

  /** Runs the remaining work after a run, so that no fiber stays in memory. */
  finish(): void {
    this.isDead = false
    this.goOn()
  }

  /** The machine's wall clock. Durations are measured on the simulation's time, as a monotonic clock would. */
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

/** A discrete-event simulation: the time of all machines, and which of them runs next. It takes no real time. */
export class Simulation {
  /** Milliseconds since the run began. */
  now = 0
  /** By how much all clocks are ahead. */
  ahead_ms = 0
  readonly machines: Array<Machine> = []
  readonly draws: Draws
  /** The machine that runs now. */
  current: Machine | null = null
  /** The last of them is the next. */
  readonly #timers: Array<Timer> = []
  #seq = 0

  constructor(seed: number) {
    this.draws = new Draws(seed)
  }

  /** Does something after a while; on a machine, if it still runs then. */
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

  /** Lets so much time pass; machines take turns as the dice say. */
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

  /** All machines sleep for a while, as when their host does: no timer fires until they wake. */
  leap(ms: number): void {
    this.#settle()
    this.now += ms
  }

  #settle(): void {
    while (true) {
      const ready = this.machines.filter(({ isReady }) => isReady)
      if (ready.length === 0) return
      const machine = ready.length === 1 ? ready[0]! : this.draws.oneOf(ready)
      for (let turns = this.draws.between(1, 4); turns > 0 && machine.isReady; turns--) machine.runOne()
    }
  }
}

type Timers = Pick<typeof globalThis, "setTimeout" | "clearTimeout" | "setInterval" | "clearInterval">

/** Runs something in which the platform's timers, too, wait in the simulation's time: what asks for real time gets this one. */
export const withTimersOf = <A>(simulation: Simulation, run: () => A): A => {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis
  const real: Timers = { setTimeout, clearTimeout, setInterval, clearInterval }
  const clear = (timer: unknown) => {
    if (timer !== undefined) (timer as Timer).isCancelled = true
  }
  const own = {
    setTimeout: (work: () => void, ms = 0) => simulation.later(ms, work, simulation.current),
    clearTimeout: clear,
    // Only Effect's `never` uses one, to keep the process alive.
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
