import { Effect } from "effect"
import { saveBatch } from "../../../packages/store-pg/dist/commands/CommandBatch.js"
import { openMigrationSession } from "../../../packages/store-pg/dist/migrate/Session.js"
import { median } from "../Median.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import { type Done, type Observation, observeWork } from "./Observation.js"
import { pipelined, SAVES, type SaveForm, type SavePlace, type Saver, savePlaces } from "./SavePlace.js"
import { serversCpu } from "./ServerCpu.js"
import { countWires } from "./WireCounts.js"

/** The forms that are compared. */
const FORMS = { one: saveBatch, pipelined } as const satisfies Readonly<Record<string, SaveForm>>
type Form = keyof typeof FORMS

/** The creates of a batch in an idle process, and about those of a batch with 64 creates in flight. */
const SIZES = [1, 25] as const

/** Saves one batch after another on each of some connections. */
const savesOn = (savers: ReadonlyArray<Saver>, size: number, save: SaveForm, seconds: number) =>
  Effect.gen(function* () {
    const end = performance.now() + seconds * 1000
    const durations: Array<number> = []
    const each = (saver: Saver) =>
      Effect.whileLoop({
        while: () => performance.now() < end,
        body: () => saver.batch(size, save),
        step: (ms) => {
          durations.push(ms)
        }
      })
    yield* Effect.forEach(savers, each, { concurrency: "unbounded", discard: true })
    return { count: durations.length, batches: durations.length, durations } satisfies Done
  })

/** The costs on one connection alone, and the rate of all connections. */
interface Round {
  readonly alone: Observation
  readonly rate: number
}

type Rounds = Readonly<Record<Form, Array<Round>>>

const round = (
  { savers }: SavePlace,
  size: number,
  form: Form,
  seconds: number,
  servers: (() => number) | null
): Effect.Effect<Round, unknown> => {
  const of = (some: ReadonlyArray<Saver>) => observeWork([SAVES], servers, savesOn(some, size, FORMS[form], seconds))
  return Effect.zipWith(of(savers.slice(0, 1)), of(savers), (alone, { rate }) => ({ alone, rate }))
}

const rowsOf = (place: string, size: number, rounds: Rounds): ReadonlyArray<Row> => {
  const row = (
    work: string,
    unit: Row["unit"],
    digits: number,
    of: (round: Round) => number,
    isCounted = false
  ): Row => {
    const [ours, theirs] = [rounds.one.map(of), rounds.pipelined.map(of)]
    return {
      work: `${work}, ${size === 1 ? "1 create" : `${size} creates`}, ${place}`,
      unit,
      ours: roundTo(median(ours), digits),
      peer: roundTo(median(theirs), digits),
      peer_is: "pipelined statements",
      ...(!isCounted && { ratio: roundTo(median(ours.map((value, i) => value / theirs[i]!))) })
    }
  }
  return [
    row("save and commit of a batch, p50", "ms", 2, ({ alone }) => alone.p50_ms),
    row("batches on two connections", "/s", 0, ({ rate }) => rate),
    ...(rounds.one.some(({ alone }) => alone.server_ms === null)
      ? []
      : [row("CPU time of the servers for a batch", "ms", 3, ({ alone }) => alone.server_ms!)]),
    row("CPU time of the service's process for a batch", "ms", 3, ({ alone }) => alone.service_ms),
    row("statements of a batch", "", 1, ({ alone }) => alone.statements, true),
    row("round trips of a batch", "", 1, ({ alone }) => alone.round_trips, true)
  ]
}

interface Asked {
  readonly url: string
  readonly rounds: number
  readonly seconds: number
}

const bench = ({ url, rounds, seconds }: Asked) =>
  Effect.gen(function* () {
    countWires()
    const session = yield* openMigrationSession(url)
    const nodes = yield* session.run<{ host: string; port: number }>(
      "select nodename as host, nodeport as port from pg_dist_node where shouldhaveshards order by nodeid"
    )
    const workers = nodes.map(
      ({ host, port }) => Object.assign(new URL(url), { hostname: host, port: String(port) }).href
    )
    const servers = yield* serversCpu([url, ...workers])
    const works = (yield* savePlaces(url)).flatMap((place) =>
      SIZES.map((size) => ({ place, size, found: { one: [], pipelined: [] } as Rounds }))
    )
    const forms: ReadonlyArray<Form> = ["one", "pipelined"]
    for (const { place, size } of works)
      for (const form of forms) yield* round(place, size, form, Math.min(1, seconds), servers)
    for (let i = 0; i < rounds; i++) {
      for (const { place, size, found } of works)
        for (const form of i % 2 === 0 ? forms : forms.toReversed())
          found[form].push(yield* round(place, size, form, seconds, servers))
      console.error(`saves ${i + 1}/${rounds}`)
    }
    return works.flatMap(({ place, size, found }) => rowsOf(place.name, size, found))
  })

/** Compares saving a batch in one statement and in pipelined ones, on a plain Postgres and in a cell of Citus. */
export const saves = benchmark({
  about:
    "saves of batches as one statement and as pipelined ones, on one plain Postgres, and in a cell of Citus at its own node and through the coordinator",
  options: {
    rounds: { about: "how often each form is measured, in turn; the result is the median", value: "4" },
    seconds: { about: "how long each runs on one connection, and as long on two", value: "0.4" }
  },
  args: { usual: [], quick: ["--rounds", "1", "--seconds", "0.2"] },
  missing: () =>
    process.env.TEST_CITUS_URL === undefined
      ? "It needs a Citus with a worker, such as docs/scaling.md sets up: give its coordinator's address in TEST_CITUS_URL."
      : null,
  run: async ({ rounds, seconds }) => {
    const asked = { rounds: Number(rounds), seconds: Number(seconds) }
    return { rows: await Effect.runPromise(Effect.scoped(bench({ url: process.env.TEST_CITUS_URL!, ...asked }))) }
  }
})
