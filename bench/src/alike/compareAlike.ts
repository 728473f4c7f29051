import type { ClientId, Phone, ShopId, StorePorts } from "@workshop/core"
import { Reads } from "@workshop/core/store"
import { Effect } from "effect"
import { recordVisit } from "../../../packages/core/dist/decisions/clientLink.js"
import { createTicket } from "../../../packages/core/dist/decisions/createTicket.js"
import {
  makeId,
  openAccount,
  openShop,
  putChanges,
  putTickets,
  runCommand,
  ticketInput
} from "../../../packages/core/dist/testing/Fixtures.js"
import { BenchClock, storeLayer } from "../create/Workload.js"
import { median } from "../Median.js"
import { cluster } from "../pg/Cluster.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import { mannWhitney } from "./mannWhitney.js"

/** The probability below which a difference counts as significant. */
const P_THRESHOLD = 0.01
const PEOPLE = 500
const WARM_UP = 1_000
const kinds = ["unknown", "known elsewhere", "blocking"] as const
type Kind = (typeof kinds)[number]

interface Person {
  readonly id: ClientId
  readonly phone: Phone
}

/**
 * Opens a shop, and equally many people of each kind with interleaved phone numbers. People who block the shop have
 * tickets there.
 */
const people = Effect.gen(function* () {
  const [shop, other] = [yield* openShop(), yield* openShop()]
  const found: Record<Kind, Array<Person>> = { unknown: [], "known elsewhere": [], blocking: [] }
  for (let i = 0; i < PEOPLE * 4; i++) {
    const phone = `+2162${String(i * 1_009).padStart(7, "0")}` as Phone
    const kind = [...kinds, "seen"][i % 4]
    if (kind === "unknown") {
      found.unknown.push({ id: yield* makeId<ClientId>(), phone })
      continue
    }
    const { id } = yield* openAccount({ phone })
    yield* runCommand(recordVisit(kind === "known elsewhere" ? other.id : shop.id, id))
    if (kind === "known elsewhere") found[kind].push({ id, phone })
    if (kind !== "blocking") continue
    yield* runCommand(putTickets(shop.id, [{ client_id: id }, { client_id: id }]))
    yield* runCommand(
      putChanges(shop.id, { _tag: "LinkPut", row: { shop_id: shop.id, client_id: id, known_at: 1, blocked_at: 2 } })
    )
    found.blocking.push({ id, phone })
  }
  return { shop_id: shop.id, people: found }
})

type Look = (shop_id: ShopId, person: Person) => Effect.Effect<unknown, unknown, StorePorts>

const looks: Readonly<Record<string, Look>> = {
  "client by number": (shop_id, { phone }) => Effect.flatMap(Reads, (reads) => reads.client(shop_id, { phone })),
  "client by id": (shop_id, { id }) => Effect.flatMap(Reads, (reads) => reads.client(shop_id, { id })),
  "tickets of a client": (shop_id, { id }) =>
    Effect.flatMap(Reads, (reads) => reads.tickets(shop_id, { client_id: id }, { _tag: "Newest", after: null }, 51)),
  "ticket for a client": (shop_id, { id }) =>
    runCommand(createTicket(shop_id, ticketInput({ service: "Hem", client_id: id }), { via: "api", foundWords: [] }))
}

/**
 * Measures the duration of a read for each kind of person. Each turn has one read of each kind, in an order that
 * rotates.
 */
const sample = (
  look: (person: Person) => Effect.Effect<unknown>,
  of: Readonly<Record<Kind, ReadonlyArray<Person>>>,
  n: number
) =>
  Effect.gen(function* () {
    const durations: Record<Kind, Array<number>> = { unknown: [], "known elsewhere": [], blocking: [] }
    for (let i = -WARM_UP; i < n; i++) {
      for (let k = 0; k < kinds.length; k++) {
        const kind = kinds[(i + WARM_UP + k) % kinds.length]!
        const person = of[kind][(i + WARM_UP) % PEOPLE]!
        const begun = process.hrtime.bigint()
        yield* look(person)
        if (i >= 0) durations[kind].push(Number(process.hrtime.bigint() - begun) / 1_000)
      }
    }
    return durations
  })

const PAIRS = [
  [0, 1],
  [0, 2],
  [1, 2]
] as const

/**
 * Tests whether response times on Postgres reveal who has an account, by comparing every two kinds
 * of people (Specification, Endpoints; Clients and loyalty).
 */
export const alike = benchmark({
  about: "whether response times reveal who has an account, by the two-sided Mann-Whitney U test",
  options: { samples: { about: "the number of samples of each kind, after 1,000 for warm-up", value: "5000" } },
  args: { usual: ["--samples", "3000"], quick: ["--samples", "500"] },
  run: async ({ samples }) => {
    const clock = new BenchClock()
    const rows = await Effect.gen(function* () {
      const { database } = yield* cluster()
      const url = yield* database("alike")
      return yield* Effect.gen(function* () {
        const { shop_id, people: of } = yield* people
        const context = yield* Effect.context<StorePorts>()
        const found: Array<Row> = []
        for (const [name, look] of Object.entries(looks)) {
          console.error(`alike: ${name}`)
          const act = (person: Person) => Effect.exit(Effect.provide(look(shop_id, person), context))
          const durations = yield* sample(act, of, Number(samples))
          for (const [a, b] of PAIRS) {
            const [one, other] = [kinds[a], kinds[b]]
            const p50 = (kind: Kind) => `${roundTo(median(durations[kind]), 0)} µs`
            found.push({
              work: `p of ${name}: ${one} (${p50(one)}) and ${other} (${p50(other)})`,
              unit: "",
              ours: roundTo(mannWhitney(durations[one], durations[other]), 3),
              target: { at_least: P_THRESHOLD }
            })
          }
        }
        return found
      }).pipe(Effect.provide(storeLayer(url, clock)))
    }).pipe(Effect.scoped, Effect.withClock(clock), Effect.runPromise)
    return { rows }
  }
})
