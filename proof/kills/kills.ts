import { setTimeout as pause } from "node:timers/promises"
import { Entropy, type ShopId, type StorePorts } from "@workshop/core"
import { SettableClock } from "@workshop/core/testing"
import { PgStore } from "@workshop/store-pg"
import { type Context, Effect, Exit, Layer, Logger, ManagedRuntime } from "effect"
import { createTicket } from "../../packages/core/src/decisions/createTicket.js"
import { openShop, runCommand, ticketInput } from "../../packages/core/src/testing/Fixtures.js"
import { LANE_CONNECTIONS } from "../../packages/store-pg/src/commands/CommandBatch.js"
import { ask, type Engine } from "./Engine.js"

/** The targets of a kill: connections that commit, the home cell's server, or another cell's. */
export const targets = ["connection", "coordinator", "worker"] as const

/** The parameters of a run. */
export interface Kills {
  readonly engine: Engine
  /** The number of kills of each target. */
  readonly count: number
  readonly seed: number
  readonly say: (line: string) => void
}

/** The result for one target. */
export interface KillsResult {
  readonly target: (typeof targets)[number]
  readonly kills: number
  readonly created: number
  readonly acknowledged: number
  readonly lost: number
  readonly twice: number
  /** The longest time after a kill until every cell had acknowledged a create again. */
  readonly longest_recovery_ms: number
}

const SHOPS = 24
const IN_FLIGHT = 48

/** The number of creates after which the clock moves by a day, because a shop may create only 150 tickets an hour. */
const CREATES_A_DAY = SHOPS * 60

/** A clock whose wall time can be moved by days, and whose durations are real. */
class FastClock extends SettableClock {
  override unsafeCurrentTimeNanos(): bigint {
    return process.hrtime.bigint()
  }
}

type Perform = (effect: Effect.Effect<unknown, unknown, StorePorts | Entropy>) => Promise<Exit.Exit<unknown, unknown>>

interface Work {
  readonly name: string
  readonly cell: number
  isAcknowledged: boolean
}

/**
 * Creates tickets with unique names on one node without a pause. They have no Idempotency-Key, so a command that the
 * store executes twice creates two tickets.
 */
class Load {
  readonly works: Array<Work> = []
  /** The instant of the latest acknowledged create in each cell. */
  readonly latest: Array<number>
  readonly #perform: Perform
  readonly #shops: ReadonlyArray<{ readonly id: ShopId; readonly cell: number }>
  readonly #clock: FastClock
  isOver = false

  constructor(
    perform: Perform,
    shops: ReadonlyArray<{ readonly id: ShopId; readonly cell: number }>,
    clock: FastClock,
    cells: number
  ) {
    this.#perform = perform
    this.#shops = shops
    this.#clock = clock
    this.latest = Array.from({ length: cells }, () => 0)
  }

  async creator(): Promise<void> {
    while (!this.isOver) {
      const { id, cell } = this.#shops[this.works.length % this.#shops.length]!
      const work: Work = { name: `work ${this.works.length}`, cell, isAcknowledged: false }
      this.works.push(work)
      if (this.works.length % CREATES_A_DAY === 0) this.#clock.advance(86_400_000)
      const exit = await this.#perform(
        runCommand(createTicket(id, ticketInput({ service: work.name }), { via: "api", foundWords: [] }))
      )
      work.isAcknowledged = Exit.isSuccess(exit)
      if (work.isAcknowledged) this.latest[cell] = performance.now()
      else await pause(5)
    }
  }

  /** Waits until every cell has acknowledged another create, and returns how long that took. */
  async recovered(since: number): Promise<number> {
    while (this.latest.some((at) => at < since)) {
      if (performance.now() - since > 120_000) throw new Error("A cell acknowledged no create for two minutes")
      await pause(5)
    }
    return performance.now() - since
  }
}

const endCommitConnections = (url: string) =>
  ask(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
    where ${Object.values(LANE_CONNECTIONS)
      .map((name) => `application_name like '${name}%'`)
      .join(" or ")}`
  )

/** Kills a target once, at a random moment of the commits, and starts it again. */
const kill = async ({ home, others }: Engine, target: KillsResult["target"], turn: number) => {
  const servers = [home, ...others]
  if (target === "connection") return void (await endCommitConnections(servers[turn % servers.length]!.url))
  const server = target === "coordinator" ? home : others[turn % others.length]!
  server.kill()
  await server.start()
}

/** Counts the acknowledged creates, and the creates that the database lost or has twice. */
const judge = async (engine: Engine, works: ReadonlyArray<Work>) => {
  const counts = new Map<string, number>()
  for (const { url, schema } of engine.places)
    for (const { service, n } of await ask<{ service: string; n: string }>(
      url,
      `select service, count(*) as n from ${schema}.ticket group by 1`
    ))
      counts.set(service, (counts.get(service) ?? 0) + Number(n))
  return {
    acknowledged: works.filter(({ isAcknowledged }) => isAcknowledged).length,
    lost: works.filter(({ name, isAcknowledged }) => isAcknowledged && !counts.has(name)).length,
    twice: works.filter(({ name }) => (counts.get(name) ?? 0) > 1).length
  }
}

/** Opens the shops, and finds the cell of each. */
const shopsOf = async (engine: Engine, perform: Perform) => {
  for (let i = 0; i < SHOPS; i++) await perform(openShop())
  const all = await Promise.all(
    engine.places.map(({ url, schema }) => ask<{ id: ShopId }>(url, `select id from ${schema}.shop`))
  )
  return all.flatMap((rows, cell) => rows.map(({ id }) => ({ id, cell })))
}

/**
 * Kills each target `count` times while a node creates tickets, and counts the tickets that were lost or created twice.
 */
export const kills = async ({ engine, count, seed, say }: Kills): Promise<ReadonlyArray<KillsResult>> => {
  const clock = new FastClock()
  const runtime = ManagedRuntime.make(
    PgStore.layer({ url: engine.url, schema: engine.schema, cells: engine.cells }).pipe(
      Layer.provideMerge(Layer.mergeAll(Entropy.layer, clock.layer, Logger.remove(Logger.defaultLogger)))
    ) as Layer.Layer<StorePorts | Entropy>
  )
  const context: Context.Context<StorePorts | Entropy> = (await runtime.runtime()).context
  const perform: Perform = (effect) => Effect.runPromiseExit(Effect.withClock(Effect.provide(effect, context), clock))
  const shops = await shopsOf(engine, perform)
  const load = new Load(perform, shops, clock, engine.places.length)
  const working = Array.from({ length: IN_FLIGHT }, () => load.creator())
  const results: Array<KillsResult> = []
  let state = seed
  const chance = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  try {
    await load.recovered(0)
    for (const target of targets) {
      const first = load.works.length
      let longest = 0
      for (let turn = 0; turn < count; turn++) {
        await pause(chance() * 60)
        const at = performance.now()
        await kill(engine, target, turn)
        longest = Math.max(longest, await load.recovered(at))
      }
      // `made` temporarily holds the first create of this round. The counts follow when all creates have ended.
      results.push({
        target,
        kills: count,
        created: first,
        acknowledged: 0,
        lost: 0,
        twice: 0,
        longest_recovery_ms: Math.round(longest)
      })
      say(`${engine.name}: ${target} killed ${count} times`)
    }
  } finally {
    load.isOver = true
    await Promise.all(working)
    await runtime.dispose()
  }
  const judged: Array<KillsResult> = []
  for (const [i, result] of results.entries()) {
    const works = load.works.slice(result.created, results[i + 1]?.created)
    judged.push({ ...result, created: works.length, ...(await judge(engine, works)) })
  }
  return judged
}
