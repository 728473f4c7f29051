import type { ClientId, Phone, ShopId, StampCount } from "@workshop/core"
import { Reads } from "@workshop/core/store"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { recordVisit } from "../../core/src/decisions/clientLink.js"
import { createTicket } from "../../core/src/decisions/createTicket.js"
import { giveStamps, redeemReward } from "../../core/src/decisions/giveStamps.js"
import {
  freshCaller,
  makeId,
  openAccount,
  openShop,
  putChanges,
  putTickets,
  runCommand,
  ticketInput
} from "../../core/src/testing/Fixtures.js"
import { PLANNED_EACH_TIME } from "../src/connection/SessionClient.js"
import { openMigrationSession, type Session } from "../src/migrate/Session.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { node, type Ports, RealClock } from "./nodes/Node.js"
import { openSession, sentDuring, stepsOf } from "./QueryPlan.js"

const ACCOUNTS = 3_000

const clock = new RealClock()
const scope = Effect.runSync(Scope.make())
const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.runPromise(Effect.withClock(Scope.extend(effect, scope), clock))

interface Person {
  readonly id: ClientId
  readonly phone: Phone
}

let session: Session
let ports: Ports
let shop_id: ShopId
let people: Readonly<Record<"unknown" | "known elsewhere" | "blocking", Person>>

beforeAll(async () => {
  const { url } = await within(testDatabase)
  const admin = await within(openMigrationSession(url))
  ports = await within(node({ url }))
  const opened = Effect.gen(function* () {
    const [shop, other] = [yield* openShop(), yield* openShop()]
    const elsewhere = yield* openAccount({ phone: "+21620001000" as Phone })
    yield* runCommand(recordVisit(other.id, elsewhere.id))
    const blocking = yield* openAccount({ phone: "+21620002000" as Phone })
    yield* runCommand(recordVisit(shop.id, blocking.id))
    yield* runCommand(
      putTickets(
        shop.id,
        Array.from({ length: 100 }, () => ({ client_id: blocking.id }))
      )
    )
    const row = { shop_id: shop.id, client_id: blocking.id, known_at: 1, blocked_at: 2 }
    yield* runCommand(putChanges(shop.id, { _tag: "LinkPut", row }))
    const unknown = { id: yield* makeId<ClientId>(), phone: "+21620001500" as Phone }
    return { shop, people: { unknown, "known elsewhere": elsewhere, blocking } }
  })
  const { shop, ...others } = await within(Effect.provide(opened, ports))
  shop_id = shop.id
  people = others.people
  await within(
    admin.run(
      `insert into client_account
        select gen_random_uuid(), 'A', 'B', '+2163' || lpad(n::text, 7, '0'), false, 1 from generate_series(1, ${ACCOUNTS}) n`
    )
  )
  await within(
    admin.run(`insert into client_link select $1, id, 1, null from client_account where phone > '+2163'`, [shop_id])
  )
  await within(admin.run("vacuum analyze"))
  session = await within(openSession(url, PLANNED_EACH_TIME))
}, 60_000)

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const newest = { _tag: "Newest", after: null } as const
const changes = { _tag: "Changes", since: 0, after: null } as const

const looks: Readonly<Record<string, (person: Person) => Effect.Effect<unknown, unknown, never>>> = {
  "a look-up by number": ({ phone }) => Effect.flatMap(Reads, (reads) => reads.client(shop_id, { phone })) as never,
  "a look-up by id": ({ id }) => Effect.flatMap(Reads, (reads) => reads.client(shop_id, { id })) as never,
  "a list of a client's tickets": ({ id }) =>
    Effect.flatMap(Reads, (reads) => reads.tickets(shop_id, { client_id: id }, newest, 51)) as never,
  "a sync of a client's tickets": ({ id }) =>
    Effect.flatMap(Reads, (reads) => reads.tickets(shop_id, { client_id: id }, changes, 51)) as never,
  "a ticket for a client": ({ id }) =>
    runCommand(
      createTicket(shop_id, ticketInput({ service: "Hem", client_id: id }), { via: "api", foundWords: [] })
    ) as never,
  "stamps for a client": ({ id: client_id }) =>
    Effect.flatMap(freshCaller, (caller_id) =>
      runCommand(giveStamps(shop_id, { client_id, caller_id, count: 1 as StampCount }))
    ) as never,
  "a reward for a client": ({ id: client_id }) =>
    Effect.flatMap(freshCaller, (caller_id) => runCommand(redeemReward(shop_id, { client_id, caller_id }))) as never
}

/** Whether a statement locks shop heads. Its plan is not compared, because the lock does not depend on the client. */
const isLock = (text: string) => /workshop lock (free )?heads/.test(text)

/** The statements that `act` sends, without those that have no values: BEGIN, COMMIT, and keep-alive queries. */
const sentFor = async (act: Effect.Effect<unknown>) =>
  (await sentDuring(() => within(Effect.exit(act)))).filter(({ values }) => values.length > 0)

describe("look-ups of clients without an account, unknown clients and blocking clients cost the same (Specification, Endpoints; Clients and loyalty)", {
  timeout: 30_000
}, () => {
  it.each(Object.keys(looks))(
    "%s sends the same statements with the same plan steps for all three clients",
    async (name) => {
      const found = []
      for (const person of Object.values(people)) {
        const sent = await sentFor(Effect.exit(Effect.provide(looks[name]!(person), ports)))
        const steps = []
        for (const { text, values } of sent.filter(({ text }) => !isLock(text))) {
          // The first run is discarded, because a connection's first run of a statement also reads catalogue pages.
          await within(stepsOf(session, text, values))
          steps.push(await within(stepsOf(session, text, values)))
        }
        found.push({ texts: sent.map(({ text }) => text), steps })
      }
      expect(found[0]!.steps.length).toBeGreaterThan(0)
      expect(found[1]).toEqual(found[0])
      expect(found[2]).toEqual(found[0])
    }
  )
})
