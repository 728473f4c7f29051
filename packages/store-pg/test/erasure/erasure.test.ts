import {
  Audit,
  ClientCorrection,
  type ClientId,
  ClientInput,
  Clients,
  Entropy,
  type Phone,
  Profanity,
  type StorePorts,
  StoreUnavailable,
  Tickets,
  Webhooks
} from "@workshop/core"
import { type Command, Deliveries, PersonalData, Reads, Store } from "@workshop/core/store"
import { SettableClock } from "@workshop/core/testing"
import * as MemoryStore from "@workshop/store-memory"
import { Memory } from "@workshop/store-memory"
import { PgStore } from "@workshop/store-pg"
import { Effect, Layer, Schema, type Scope } from "effect"
import { describe, expect, it } from "vitest"
import { layer as workshop } from "../../../core/src/services/Workshop.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { databaseOfRoles } from "../migrate/TestRoles.js"
import { chatty, idempotencyKey, NEEDLES, PHONE, story } from "./ErasureFixture.js"

/** A store, and a search of all its data. */
interface Searched {
  readonly store: Layer.Layer<StorePorts, never, Entropy>
  readonly find: (needles: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
}

/** The paths of all strings that contain `needle` in a value and in the objects that the value references. */
const places = (value: unknown, needle: string, path: string, seen: Set<unknown>): ReadonlyArray<string> => {
  if (typeof value === "string") return value.toLowerCase().includes(needle) ? [`${path}: ${value}`] : []
  if (typeof value !== "object" || value === null || seen.has(value)) return []
  seen.add(value)
  const entries = value instanceof Map || value instanceof Set ? [...value.entries()].flat() : []
  const paths = entries.flatMap((entry, i) => places(entry, needle, `${path}[${i}]`, seen))
  return [
    ...paths,
    ...Object.entries(value).flatMap(([name, child]) => [
      ...places(name, needle, path, seen),
      ...places(child, needle, `${path}.${name}`, seen)
    ])
  ]
}

const inMemory: Effect.Effect<Searched> = Effect.sync(() => {
  const memory = new Memory()
  return {
    store: MemoryStore.layerOn(memory),
    find: (needles) => Effect.sync(() => needles.flatMap((needle) => places(memory, needle, "memory", new Set())))
  }
})

const inPostgres: Effect.Effect<Searched, never, Scope.Scope> = Effect.gen(function* () {
  const { url, service } = yield* databaseOfRoles()
  const session = yield* Effect.orDie(openMigrationSession(url))
  const find = Effect.fnUntraced(function* (needles: ReadonlyArray<string>) {
    const tables = yield* session.run<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'workshop'::regnamespace and relkind = 'r'"
    )
    const found: Array<string> = []
    for (const { name } of tables)
      for (const needle of needles) {
        const rows = yield* session.run<{ row: string }>(
          `select x::text as row from ${name} x where strpos(lower(x::text), $1) > 0`,
          [needle]
        )
        found.push(...rows.map(({ row }) => `${name}: ${row}`))
      }
    return found
  })
  return { store: Layer.orDie(PgStore.layer({ url: service })), find: (needles) => Effect.orDie(find(needles)) }
})

/** Fails every call of `transact` after the first `after.left`, as if the process had died there. */
const cutOffAfter = (after: { left: number }) =>
  Layer.effect(
    Store,
    Effect.map(Store, ({ transact }) =>
      Store.of({
        transact: <A, E>(command: Command<A, E>) =>
          Effect.suspend(() => (after.left-- > 0 ? transact(command) : Effect.fail(new StoreUnavailable({}))))
      })
    )
  )

const services = (store: Layer.Layer<StorePorts, never, Entropy>, after = { left: Number.POSITIVE_INFINITY }) =>
  workshop.pipe(
    Layer.provideMerge(Layer.provideMerge(cutOffAfter(after), store)),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layer)
  )

type Services = Layer.Layer.Success<ReturnType<typeof services>>

describe.each([
  ["the memory store", inMemory],
  ["Postgres", inPostgres]
] as const)("a client's rights, on %s", { timeout: 60_000 }, (_, store) => {
  const searching =
    <A, E>(test: (searched: Searched, after: { left: number }) => Effect.Effect<A, E, Services>) =>
    () => {
      const clock = new SettableClock()
      const after = { left: Number.POSITIVE_INFINITY }
      const whole = Effect.flatMap(store as Effect.Effect<Searched, never, Scope.Scope>, (searched) =>
        Effect.provide(test(searched, after), services(searched.store, after))
      )
      return Effect.runPromise(Effect.withClock(Effect.scoped(whole), clock))
    }

  it(
    "after an erasure, a search of the whole store finds no form of the person's name or number",
    searching(({ find }) =>
      Effect.gen(function* () {
        const { amira, caller, otherCaller } = yield* story
        expect((yield* find(NEEDLES)).length).toBeGreaterThan(20)
        const { shops } = yield* (yield* Clients).erase(amira)
        expect(shops).toEqual([caller.shop_id, otherCaller.shop_id].sort())
        expect(yield* find(NEEDLES)).toEqual([])
      })
    )
  )

  it(
    "an erasure retains the rows that bookkeeping needs under the client's id, and leaves other clients' data unchanged",
    searching(({ find }) =>
      Effect.gen(function* () {
        const { amira, karim, caller, linked, karims } = yield* story
        const tickets = yield* Tickets
        const before = yield* tickets.byId(caller, linked)
        const others = yield* tickets.byId(caller, karims)
        const ledger = (yield* (yield* PersonalData).readShopData(caller.shop_id, {
          client_id: amira,
          names: [],
          phones: []
        })).ledger
        yield* (yield* Clients).erase(amira)
        const after = yield* tickets.byId(caller, linked)
        for (const name of [
          "number",
          "state",
          "type",
          "money",
          "created_at",
          "ready_at",
          "promised_at",
          "tracking_code"
        ])
          expect([name, after[name as keyof typeof after]]).toEqual([name, before[name as keyof typeof before]])
        expect(after).toMatchObject({
          service: "Hem for [erased]",
          item: "Coat of Mrs [erased]",
          description: null,
          client: null,
          client_phone: null,
          photo_url: null,
          external_ref: "[erased] [erased]",
          part: { label: "Zip for [erased]" },
          quote: { price_minor: 50_000, note: null },
          delay: { reason: null }
        })
        expect(after.items.map(({ label }) => label)).toEqual(["Coat ([erased])", "Scarf"])
        const held = yield* (yield* PersonalData).readShopData(caller.shop_id, {
          client_id: amira,
          names: [],
          phones: []
        })
        expect([held.ledger, held.link, held.notifications]).toEqual([ledger, null, []])
        expect(held.card?.balance).toBe(3)
        expect(yield* tickets.byId(caller, karims)).toEqual(others)
        expect(yield* find(["trabelsi"])).not.toEqual([])
        expect((yield* (yield* Clients).byId(caller, karim)).display_name).toBe("Karim Trabelsi")
      })
    )
  )

  it(
    "after an erasure, no shop can read the client, and another account can use the phone number",
    searching(() =>
      Effect.gen(function* () {
        const { amira, caller } = yield* story
        const clients = yield* Clients
        yield* clients.erase(amira)
        const reads: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
          clients.byId(caller, amira),
          clients.byPhone(caller, PHONE as Phone),
          clients.inbox(amira)
        ]
        for (const refused of reads) expect((yield* Effect.flip(refused))._tag).toBe("ClientNotFound")
        expect((yield* Effect.flip(clients.visit(amira, caller.shop_id)))._tag).toBe("ClientNotFound")
        const again = yield* clients.register(
          Schema.decodeSync(ClientInput)({ given_name: "Leila", family_name: "Jaziri", phone: PHONE })
        )
        expect(again.id).not.toBe(amira)
        expect((yield* Effect.flip(clients.erase(amira)))._tag).toBe("ClientNotFound")
      })
    )
  )

  it(
    "an erasure retains each event's id and sequence number, adds no event, and later deliveries have the redacted text",
    searching(() =>
      Effect.gen(function* () {
        const { amira, otherCaller } = yield* story
        const reads = yield* Reads
        const before = yield* reads.events(otherCaller.shop_id)
        yield* (yield* Clients).erase(amira)
        const events = yield* reads.events(otherCaller.shop_id)
        expect(events.map(({ id, type, seq, created_at }) => [id, type, seq, created_at])).toEqual(
          before.map(({ id, type, seq, created_at }) => [id, type, seq, created_at])
        )
        const linked = events.find(({ type }) => type === "client.linked")
        expect(JSON.parse(linked!.body).data.client).toEqual({ id: amira, display_name: null })
        yield* (yield* Webhooks).enable(otherCaller.shop_id)
        const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const claims = yield* (yield* Deliveries).claim(now, 50)
        const parked = claims.filter(({ shop_id }) => shop_id === otherCaller.shop_id)
        expect(parked.map(({ body }) => body)).toEqual(
          parked.map(({ event_id }) => events.find(({ id }) => id === event_id)?.body)
        )
        expect(parked.length).toBeGreaterThan(0)
      })
    )
  )

  it(
    "after an erasure, a retried create returns the first ticket without personal data, and creates no second ticket",
    searching(() =>
      Effect.gen(function* () {
        const { amira, caller, linked } = yield* story
        const tickets = yield* Tickets
        yield* (yield* Clients).erase(amira)
        const replay = yield* tickets.create(caller, chatty(amira), idempotencyKey("till-1"))
        expect([replay.replayed, replay.data.id, replay.data.client]).toEqual([
          true,
          linked,
          { id: amira, display_name: null }
        ])
        expect([replay.data.description, replay.data.client_phone]).toEqual([null, null])
      })
    )
  )

  it(
    "the sync returns the tickets that an erasure changed",
    searching(() =>
      Effect.gen(function* () {
        const { amira, caller, linked, offered } = yield* story
        const reads = yield* Reads
        const last = (yield* reads.shop(caller.shop_id))!.head.change_seq - 1
        yield* (yield* Clients).erase(amira)
        const { tickets } = yield* reads.tickets(caller.shop_id, {}, { _tag: "Changes", since: 0, after: last }, 100)
        expect(tickets.map(({ record }) => record.id).sort()).toEqual([linked, offered].sort())
      })
    )
  )

  it(
    "the next call completes an erasure that was interrupted at any command",
    searching(({ find }, after) =>
      Effect.gen(function* () {
        const { amira } = yield* story
        const clients = yield* Clients
        let deaths = 0
        // Each call completes one more command than the previous call.
        for (; deaths < 50; deaths++) {
          after.left = deaths
          const ended = yield* Effect.option(clients.erase(amira))
          if (ended._tag === "Some") break
        }
        after.left = Number.POSITIVE_INFINITY
        expect(deaths).toBeGreaterThan(5)
        expect(yield* find(NEEDLES)).toEqual([])
      })
    )
  )

  it(
    "the export contains everything that a search finds about the person, and the audit log records it",
    searching(({ find }) =>
      Effect.gen(function* () {
        const { amira, caller, otherCaller, linked, offered, accepted, karims } = yield* story
        const all = yield* (yield* Clients).export(amira)
        expect(all.account).toMatchObject({ given_name: "Amira", family_name: "Ben Salah", phone: PHONE })
        expect(all.shops.map(({ shop_id }) => shop_id)).toEqual([caller.shop_id, otherCaller.shop_id].sort())
        const first = all.shops.find(({ shop_id }) => shop_id === caller.shop_id)!
        expect(first.tickets.map(({ id }) => id).sort()).toEqual([linked, offered].sort())
        expect(first).toMatchObject({ loyalty_card: { balance: 3 }, blocked_at: null, known_at: expect.any(String) })
        expect(first.notifications).toHaveLength(1)
        expect(first.idempotency_records.map(({ key }) => key).sort()).toEqual([`stamps ${PHONE}`, "till-1", "till-2"])
        expect(first.delivery_attempts.length).toBeGreaterThan(0)
        const second = all.shops.find(({ shop_id }) => shop_id === otherCaller.shop_id)!
        expect(second.tickets.map(({ id }) => id)).toEqual([accepted])
        expect(second.offers).toMatchObject([{ status: "accepted", phone: PHONE }])
        expect(JSON.stringify(all)).not.toContain(karims)
        const [entry] = yield* (yield* Audit).list(null, null, 1)
        expect(entry).toMatchObject({ act: "client.exported", details: { client_id: amira } })
        expect((yield* find(["amira"])).length).toBeGreaterThan(0)
      })
    )
  )

  it(
    "a correction of a number applies immediately, a number of another account is refused, and an erasure can remove the former number",
    searching(({ find }) =>
      Effect.gen(function* () {
        const { amira, caller } = yield* story
        const clients = yield* Clients
        const correct = (fields: typeof ClientCorrection.Encoded) =>
          clients.correct(amira, Schema.decodeSync(ClientCorrection)(fields))
        yield* correct({ family_name: "Benslama", phone: "+21698765432" })
        expect((yield* clients.byId(caller, amira)).display_name).toBe("Amira Benslama")
        expect((yield* clients.byPhone(caller, "+21698765432" as Phone)).id).toBe(amira)
        expect((yield* Effect.flip(clients.byPhone(caller, PHONE as Phone)))._tag).toBe("ClientNotFound")
        expect(yield* Effect.flip(correct({ phone: "+21655999888" }))).toMatchObject({
          _tag: "InvalidInput",
          issues: [
            {
              field: "phone",
              message: "belongs to another account. Give another number, or correct the other account first"
            }
          ]
        })
        expect((yield* Effect.flip(clients.correct(caller.shop_id as unknown as ClientId, {} as never)))._tag).toBe(
          "ClientNotFound"
        )
        const [entry] = yield* (yield* Audit).list(null, null, 2)
        expect(entry).toMatchObject({ act: "client.corrected", details: { client_id: amira, fields: ["phone"] } })
        expect((yield* find(["21698765432"])).length).toBeGreaterThan(0)
        yield* clients.erase(amira, [PHONE as Phone])
        expect(yield* find([PHONE, "20123456", "98765432", "benslama"])).toEqual([])
      })
    )
  )
})
