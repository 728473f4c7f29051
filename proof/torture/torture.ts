import { setTimeout as pause } from "node:timers/promises"
import { freePort } from "../../test/freePort.js"
import { check, type ShopEnd } from "./Checker.js"
import { Load, Receiver } from "./Load.js"
import { canFollow, migrateDatabase, Postgres, ServiceNode, Wire } from "./Servers.js"

/** The parameters of a run. */
export interface Torture {
  /** The duration of the faults; a short run ignores it. */
  readonly seconds: number
  readonly seed: number
  /** True for a test of a few seconds: each fault once, without the full disk and the standby. */
  readonly isShort: boolean
  readonly say: (line: string) => void
  /** Ends the run early, as a failure. */
  readonly signal?: AbortSignal
}

/**
 * The load of a short run, which is as high as possible, and of a long run, which stays within the limits of keys and
 * shops.
 */
const SHORT = { shops: 2, tills: 3, pause_ms: 60 }
const LONG = { shops: 16, tills: 3, pause_ms: 2400 }

const CLOCK = "clock moved by a minute"
const CLOCK_MOVE_MS = 60_000
/**
 * The additional milliseconds by which a node may be ahead after each move of a clock, because nodes read their clocks
 * one after another.
 */
const LEEWAY_MS = 5000

/** The fewest operations of a short run, even on a slow machine. */
const FEWEST = 20

/** The time that a run may take in addition to its faults, to start, to recover and to deliver the remaining events. */
const GRACE_S = 300

/** The result of a run. */
export interface Outcome {
  readonly violations: ReadonlyArray<string>
  readonly operations: number
  readonly answered: number
  readonly events: number
  readonly arrivals: number
  readonly faults: Readonly<Record<string, number>>
  readonly recovered_ms: number
}

/** A seeded generator of random numbers from 0 to 1. */
const chanceOf = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Causes a fault, and returns a function that ends it. */
type Fault = () => (() => void | Promise<void>) | Promise<() => void | Promise<void>>

interface Testbed {
  readonly postgres: Postgres
  readonly nodes: ReadonlyArray<ServiceNode>
  readonly wires: ReadonlyArray<Wire>
  readonly chance: () => number
}

const faultsOf = ({ postgres, nodes, wires, chance }: Testbed, isShort: boolean): Readonly<Record<string, Fault>> => {
  const one = <A>(all: ReadonlyArray<A>): A => all[Math.floor(chance() * all.length)]!
  const always: Readonly<Record<string, Fault>> = {
    "kill -9": () => {
      const node = one(nodes)
      node.kill()
      return () => node.start()
    },
    SIGSTOP: () => one(nodes).stop(),
    "connections cut": () => {
      one(wires).cut()
      return () => {}
    },
    "connections half-open": () => {
      const wire = one(wires)
      wire.silence()
      return () => {}
    },
    [CLOCK]: () => {
      const node = one(nodes)
      node.setClock(chance() < 0.5 ? CLOCK_MOVE_MS : -CLOCK_MOVE_MS)
      return () => node.setClock(0)
    }
  }
  if (isShort) return always
  return {
    ...always,
    "database restarted": () => {
      postgres.down()
      return () => postgres.up()
    },
    ...(postgres.canFill
      ? {
          "disk full": () => {
            const empty = postgres.fill()
            return async () => {
              empty()
              // Postgres may have stopped because the disk was full, so it is restarted, as a supervisor would.
              postgres.down()
              await postgres.up()
              await postgres.standbyUp()
            }
          }
        }
      : {})
  }
}

/** Injects one fault after another until the time is over. In the middle of a long run it promotes the standby. */
const torment = async (testbed: Testbed, { seconds, isShort, say }: Torture): Promise<Record<string, number>> => {
  const { postgres, chance } = testbed
  const counts: Record<string, number> = {}
  const until = Date.now() + seconds * 1000
  const all = faultsOf(testbed, isShort)
  let turn = 0
  let promotes_at = postgres.isFollowed ? Date.now() + seconds * 500 : Number.POSITIVE_INFINITY
  const names = Object.keys(all)
  while (isShort ? turn < names.length : Date.now() < until) {
    await pause(isShort ? 300 : 500 + 2500 * chance())
    // Each fault comes once in order, so that a short run has all of them. Later faults are random.
    const name = turn < names.length ? names[turn]! : names[Math.floor(chance() * names.length)]!
    turn++
    counts[name] = (counts[name] ?? 0) + 1
    say(name)
    const end = await all[name]!()
    const lasts_ms = 500 + (name === "SIGSTOP" && chance() < 0.4 ? 18_000 : 3500) * chance()
    await pause(isShort ? 500 : Math.min(until - Date.now(), lasts_ms))
    await end()
    if (Date.now() > promotes_at) {
      promotes_at = Number.POSITIVE_INFINITY
      counts["standby promoted"] = 1
      say("standby promoted")
      postgres.promote()
    }
  }
  return counts
}

const endOf = async (load: Load, index: number, patience_ms: number): Promise<ShopEnd> => {
  const shop = load.shops[index]!
  const key = shop.keys.at(-1)!
  const until = Date.now() + patience_ms
  const data = async (path: string) => (await load.insist("GET", path, { key })).response.data
  while (true) {
    const deliveries = await data(`/sandbox/shops/${shop.id}/deliveries`)
    const left = deliveries.filter(({ state }: { readonly state: string }) => state !== "delivered").length
    if (left === 0 || Date.now() > until) {
      const tickets = []
      let cursor: string | null = null
      do {
        const query: string = new URLSearchParams({ limit: "100", ...(cursor === null ? {} : { cursor }) }).toString()
        const { response } = await load.insist("GET", `/v1/tickets?${query}`, { key })
        tickets.push(...response.data)
        cursor = response.meta.next_cursor
      } while (cursor !== null)
      const events = await data(`/sandbox/shops/${shop.id}/events`)
      return { tickets, events, deliveries, card: await data(`/v1/clients/${shop.client}/loyalty`) }
    }
    await pause(500)
  }
}

/** The servers of a run, which end together. */
class Theatre {
  readonly nodes: Array<ServiceNode> = []

  private constructor(
    readonly postgres: Postgres,
    readonly wires: ReadonlyArray<Wire>,
    readonly receiver: Receiver
  ) {}

  static async open(chance: () => number): Promise<Theatre> {
    const postgres = await Postgres.start()
    const wires = Array.from({ length: 3 }, () => new Wire(() => postgres.port))
    return new Theatre(postgres, wires, new Receiver(chance))
  }

  /** Waits until the nodes are ready, after `clockMoves` moves of their clocks. */
  async ready(clockMoves: number): Promise<void> {
    for (const node of this.nodes) {
      // A sandbox that starts on data of a fast clock begins at their time, and its clock may then be moved further
      // ahead.
      const why = await node.unready(clockMoves * (CLOCK_MOVE_MS + LEEWAY_MS))
      if (why !== undefined) throw new Error(why)
    }
  }

  async end(): Promise<void> {
    for (const node of this.nodes) node.kill()
    this.receiver.end()
    for (const wire of this.wires) wire.end()
    await pause(200)
    this.postgres.end()
  }
}

/** One run of the test. It reports each step, so that the error about a run that does not end names the last step. */
const run = async (servers: Theatre, options: Torture, chance: () => number, step: (line: string) => void) => {
  const { isShort } = options
  const { postgres, wires, receiver, nodes } = servers
  step("starting")
  await Promise.all([receiver.open(), ...wires.map((wire) => wire.open())])
  migrateDatabase(postgres.url)
  if (!isShort && canFollow) await postgres.follow()
  for (const [i, name] of (isShort ? ["one", "two"] : ["one", "two", "dispatcher"]).entries())
    nodes.push(new ServiceNode(name, wires[i]!, await freePort(), postgres.folder))
  for (const node of nodes) node.start()
  await servers.ready(0)
  const load = new Load(
    nodes.slice(0, 2).map(({ base }) => base),
    chance
  )
  const size = isShort ? SHORT : LONG
  await load.open(size.shops, receiver.url)
  const work = Promise.all(
    load.shops.flatMap((_, shop) => [
      load.follower(shop, size.pause_ms),
      ...Array.from({ length: size.tills }, (_, index) => load.till(index, shop, size.pause_ms))
    ])
  )
  const faults = await Promise.race([
    torment({ postgres, nodes, wires, chance }, { ...options, say: step }),
    failed(work)
  ])
  step("recovering")
  const healed_at = Date.now()
  receiver.isWell = true
  for (const node of nodes) node.setClock(0)
  await servers.ready(faults[CLOCK] ?? 0)
  const recovered_ms = Date.now() - healed_at
  const answered = () => load.operations.filter(({ status }) => status !== null && status !== 503).length
  while (answered() < FEWEST) await pause(50)
  load.end()
  step("waiting for the requests that were begun")
  await work
  // Failed deliveries are due again after a minute or after hours, so the clocks of the sandboxes are moved.
  for (const minutes of [2, 6, 31, 121, 361])
    for (const { base, name } of nodes) {
      step(`advancing the clock of ${name} by ${minutes} minutes`)
      await load.insist("POST", "/sandbox/clock", { base, body: { advance_ms: minutes * 60_000 } })
    }
  const ends: Array<ShopEnd> = []
  for (const [index] of load.shops.entries()) {
    step(`waiting for the deliveries of shop ${index}`)
    ends.push(await endOf(load, index, isShort ? 15_000 : 60_000))
  }
  step("checking the history")
  for (const shop of load.shops) await load.follow(shop)
  const { operations } = load
  return {
    violations: check(operations, load.shops, ends, receiver.arrivals),
    operations: operations.length,
    answered: answered(),
    events: ends.reduce((sum, { events }) => sum + events.length, 0),
    arrivals: receiver.arrivals.length,
    faults,
    recovered_ms
  }
}

/** A promise that rejects with the error of the work, and never resolves. */
const failed = (work: Promise<unknown>): Promise<never> => new Promise((_, reject) => void work.catch(reject))

/** Runs real processes on a real Postgres with faults, and checks the history of their responses. It always ends. */
export const torture = async (options: Torture): Promise<Outcome> => {
  const { say, seed, seconds, signal } = options
  const chance = chanceOf(seed)
  let doing = "starting Postgres"
  const step = (line: string) => {
    doing = line
    say(line)
  }
  const servers = await Theatre.open(chance)
  let overdue: NodeJS.Timeout | undefined
  const ended = new Promise<never>((_, reject) => {
    const end = (why: string) => reject(new Error(`The run ${why}. Its last step: ${doing}`))
    overdue = setTimeout(() => end(`had not ended ${GRACE_S} s after its last fault`), (seconds + GRACE_S) * 1000)
    signal?.addEventListener("abort", () => end("was stopped"))
  })
  try {
    return await Promise.race([run(servers, options, chance, step), ended])
  } catch (error) {
    for (const node of servers.nodes) say(`${node.name}: ${node.output.slice(-2000)}`)
    throw error
  } finally {
    clearTimeout(overdue)
    await servers.end()
  }
}
