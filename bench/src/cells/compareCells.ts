import { Effect } from "effect"
import { LANE_CONNECTIONS } from "../../../packages/store-pg/dist/commands/CommandBatch.js"
import { openMigrationSession } from "../../../packages/store-pg/dist/migrate/Session.js"
import { IN_FLIGHT } from "../create/Workload.js"
import { median } from "../Median.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import { CELL_WORKS, MOVED_TICKETS } from "./cellWorks.js"
import { moves } from "./moves.js"
import { type Done, type Observation, observeWork } from "./Observation.js"
import { type Placement, placements } from "./Placement.js"
import { serversCpu } from "./ServerCpu.js"
import { countWires } from "./WireCounts.js"

const COMMITTING: ReadonlyArray<string> = Object.values(LANE_CONNECTIONS)
const CLAIMED = 64

/** Repeats an act for some seconds, with `at_once` repetitions in flight. */
const forSeconds = (act: Effect.Effect<unknown, unknown>, at_once: number, seconds: number) =>
  Effect.gen(function* () {
    const end = performance.now() + seconds * 1000
    const durations: Array<number> = []
    let begun = 0
    const one = Effect.suspend(() => {
      begun = performance.now()
      return act
    })
    let count = 0
    const each = Effect.whileLoop({
      while: () => performance.now() < end,
      body: () => one,
      step: () => {
        count++
        if (at_once === 1) durations.push(performance.now() - begun)
      }
    })
    yield* Effect.all(
      Array.from({ length: at_once }, () => each),
      { concurrency: "unbounded", discard: true }
    )
    return { count, durations } satisfies Done
  })

/** Counts each act as a separate batch. */
const alone = <E>(work: Effect.Effect<Done, E>) => Effect.map(work, (done) => ({ ...done, batches: done.count }))

/** Claims deliveries and records their attempts. Only the claims are timed. */
const claims = ({ claim }: Placement, times: number) =>
  Effect.gen(function* () {
    const durations: Array<number> = []
    let count = 0
    for (let i = 0; i < times; i++) {
      const begun = performance.now()
      const found = yield* claim(CLAIMED)
      durations.push(performance.now() - begun)
      count += found.length
      yield* Effect.all(found, { concurrency: "unbounded", discard: true })
    }
    return { count, batches: times, durations } satisfies Done
  })

type Work = (placement: Placement, seconds: number) => Effect.Effect<Done, unknown>

/** The work that is compared, and the connections that it uses. */
const WORKS: Readonly<Record<string, { readonly names: ReadonlyArray<string>; readonly work: Work }>> = {
  creates: { names: COMMITTING, work: ({ create }, seconds) => forSeconds(create, IN_FLIGHT, seconds) },
  idle: { names: COMMITTING, work: ({ create }, seconds) => forSeconds(create, 1, seconds / 2) },
  reads: { names: ["workshop reads"], work: ({ get }, seconds) => alone(forSeconds(get, 1, seconds / 2)) },
  claims: { names: ["workshop deliveries"], work: (placement) => claims(placement, 12) }
}

type Name = "creates" | "idle" | "reads" | "claims"
type Observations = Readonly<Record<Name, Observation>>

const LOOKS = 100

/** The cost of a claim without due deliveries, which every dispatcher repeats continually. */
const empty = (placement: Placement, servers: (() => number) | null) =>
  observeWork(
    ["workshop deliveries"],
    servers,
    alone(
      Effect.gen(function* () {
        const durations: Array<number> = []
        for (let i = 0; i < LOOKS; i++) {
          const begun = performance.now()
          yield* placement.claim(CLAIMED)
          durations.push(performance.now() - begun)
        }
        return { count: LOOKS, durations } satisfies Done
      })
    )
  )

const round = (placement: Placement, servers: (() => number) | null, seconds: number) =>
  Effect.gen(function* () {
    const observations: Record<string, Observation> = {}
    for (const [name, { names, work }] of Object.entries(WORKS))
      observations[name] = yield* observeWork(names, servers, work(placement, seconds))
    return observations as Observations
  })

interface Compared {
  readonly placement: Placement
  readonly empty: Observation
  readonly rounds: ReadonlyArray<Observations>
}

type Pick1 = (observation: Observation) => number

/** A row for each way except the plain one, compared with the plain one. */
const rowsOf = (
  all: ReadonlyArray<Compared>,
  { work, unit, digits, isRatio = false }: Pick<Row, "work" | "unit"> & { digits: number; isRatio?: boolean },
  of: (one: Compared, round: number) => number
): ReadonlyArray<Row> => {
  const [plain, ...others] = all
  const rounds = (one: Compared) => one.rounds.map((_, i) => of(one, i))
  const theirs = rounds(plain!)
  return others.map((one) => {
    const ours = rounds(one)
    return {
      work: `${work}, ${one.placement.name}`,
      unit,
      ours: roundTo(median(ours), digits),
      peer: roundTo(median(theirs), digits),
      peer_is: plain!.placement.name,
      ...(isRatio && { ratio: roundTo(median(ours.map((value, i) => value / theirs[i]!))) })
    }
  })
}

const cpuRows = (all: ReadonlyArray<Compared>): ReadonlyArray<Row> => {
  if (all.some((one) => one.empty.server_ms === null)) return []
  const row = (work: string, of: (one: Compared, round: number) => number) =>
    rowsOf(all, { work, unit: "ms", digits: 3 }, of)
  const server =
    (name: Name): ((one: Compared, i: number) => number) =>
    ({ rounds }, i) =>
      rounds[i]![name].server_ms!
  return [
    ...row(CELL_WORKS.server, server("creates")),
    ...row(CELL_WORKS.serverAlone, server("idle")),
    ...row(CELL_WORKS.service, ({ rounds }, i) => rounds[i]!.creates.service_ms),
    ...row(CELL_WORKS.read, server("reads")),
    ...row(CELL_WORKS.serviceRead, ({ rounds }, i) => rounds[i]!.reads.service_ms),
    ...row(CELL_WORKS.delivery, server("claims")),
    ...row(CELL_WORKS.look, (one) => one.empty.server_ms!)
  ]
}

const reported = (all: ReadonlyArray<Compared>): ReadonlyArray<Row> => {
  const of =
    (name: Name, pick: Pick1) =>
    ({ rounds }: Compared, i: number) =>
      pick(rounds[i]![name])
  const p50 = { unit: "ms", digits: 2, isRatio: true } as const
  const counted = { unit: "", digits: 1 } as const
  return [
    ...rowsOf(
      all,
      { work: CELL_WORKS.rate, unit: "/s", digits: 0, isRatio: true },
      of("creates", (o) => o.rate)
    ),
    ...rowsOf(
      all,
      { work: CELL_WORKS.idle, ...p50 },
      of("idle", (o) => o.p50_ms)
    ),
    ...rowsOf(
      all,
      { work: "GET one ticket, p50", ...p50 },
      of("reads", (o) => o.p50_ms)
    ),
    ...rowsOf(
      all,
      { work: `claim of ${CLAIMED}, p50`, ...p50 },
      of("claims", (o) => o.p50_ms)
    ),
    ...rowsOf(all, { work: "claim of nothing, p50", ...p50 }, ({ empty }) => empty.p50_ms),
    ...rowsOf(
      all,
      { work: CELL_WORKS.batch, ...counted },
      of("creates", (o) => o.batch)
    ),
    ...(["creates", "reads", "claims"] as const).flatMap((name) => {
      const what = { creates: "a batch of creates", reads: "a GET", claims: `a claim of ${CLAIMED}` }[name]
      return [
        ...rowsOf(
          all,
          { work: `statements of ${what}`, ...counted },
          of(name, (o) => o.statements)
        ),
        ...rowsOf(
          all,
          { work: `round trips of ${what}`, ...counted },
          of(name, (o) => o.round_trips)
        )
      ]
    }),
    ...cpuRows(all)
  ]
}

interface Asked {
  readonly url: string
  readonly rounds: number
  readonly seconds: number
  readonly tickets: number
}

const bench = ({ url, rounds, seconds, tickets }: Asked) =>
  Effect.gen(function* () {
    countWires()
    const session = yield* openMigrationSession(url)
    const nodes = yield* session.run<{ host: string; port: number }>(
      "select nodename as host, nodeport as port from pg_dist_node where shouldhaveshards order by nodeid"
    )
    if (nodes.length < 2) return yield* Effect.fail(new Error("The benchmark needs a Citus with two workers"))
    const workers = nodes.map(
      ({ host, port }) => Object.assign(new URL(url), { hostname: host, port: String(port) }).href
    )
    const servers = yield* serversCpu([url, ...workers])
    const opened = yield* placements(url)
    const compared: Array<Compared> = []
    for (const placement of opened) {
      const nothing = yield* empty(placement, servers)
      yield* round(placement, servers, 1)
      compared.push({ placement, empty: nothing, rounds: [] })
    }
    const all = compared.map((one) => ({ ...one, rounds: [] as Array<Observations> }))
    for (let i = 0; i < rounds; i++)
      for (const one of i % 2 === 0 ? all : all.toReversed()) {
        one.rounds.push(yield* round(one.placement, servers, seconds))
        console.error(
          `cells ${i + 1}/${rounds}: ${Math.round(one.rounds[i]!.creates.rate)} creates/s, ${one.placement.name}`
        )
      }
    const [small, large] = yield* moves(url, tickets)
    const moved = (work: string, unit: Row["unit"], ours: number): Row => ({ work, unit, ours: roundTo(ours, 1) })
    return [
      ...reported(all),
      moved(CELL_WORKS.moveSmall, "s", small!.took_ms / 1000),
      moved("longest pause of writes in that move", "ms", small!.longest_pause_ms),
      moved(CELL_WORKS.moveLarge, "s", large!.took_ms / 1000),
      moved(MOVED_TICKETS, "", tickets),
      moved(CELL_WORKS.moveBytes, "MiB", large!.bytes / 2 ** 20),
      moved("longest pause of writes in that move, larger cell", "ms", large!.longest_pause_ms)
    ]
  })

/** Compares creates, reads and claims on a plain Postgres, in one cell of Citus and in eight. */
export const cells = benchmark({
  about: "creates, reads and claims on one plain Postgres, in one cell of Citus, and in eight over its workers",
  options: {
    rounds: { about: "how often each way is measured, in turn; the result is the median", value: "3" },
    seconds: { about: "how long creates run in a round", value: "3" },
    tickets: { about: "the tickets of the larger cell that is moved", value: "100000" }
  },
  args: { usual: [], quick: ["--rounds", "1", "--seconds", "1", "--tickets", "1000"] },
  missing: () =>
    process.env.TEST_CITUS_URL === undefined
      ? "It needs a Citus with two workers, such as docs/scaling.md sets up: give its coordinator's address in TEST_CITUS_URL."
      : null,
  run: async ({ rounds, seconds, tickets }) => {
    const asked = { rounds: Number(rounds), seconds: Number(seconds), tickets: Number(tickets) }
    return { rows: await Effect.runPromise(Effect.scoped(bench({ url: process.env.TEST_CITUS_URL!, ...asked }))) }
  }
})
