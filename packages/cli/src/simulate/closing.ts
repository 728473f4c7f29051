import { Effect } from "effect"
import { type CallName, requestOf } from "../testkit/Actors.js"
import type { Ticket } from "../testkit/Shapes.js"
import { type HeldKey, type KnownShop, successOf } from "./Actors.js"
import { makingKey, revoking, switchingOn } from "./activities/sandbox.js"
import { attemptOf, pollOf } from "./activities/till.js"
import type { Loyalty, ShopTrace, Trace } from "./auditor/Trace.js"
import { EnvironmentFailed } from "./Environment.js"
import type { Runner } from "./Runner.js"

const MAX_KEYS = 5
/** Bounds the pages that are read of one list; a key has 120 requests a minute. */
const PAGES_A_MINUTE = 100
const MAX_PAGES = 10_000

const read = (runner: Runner, shop: KnownShop, call: CallName, id: string, key?: HeldKey, query = "") => {
  const request = { actor: "auditor", act: "audit", shop: shop.id, ...requestOf(call, id), query }
  return runner.run(key === undefined ? request : { ...request, key })
}

const wanted = <A>(runner: Runner, shop: KnownShop, call: CallName): Effect.Effect<A, EnvironmentFailed> =>
  Effect.flatMap(read(runner, shop, call, shop.id), (response) => {
    const data = successOf<A>(response)
    return data === null
      ? new EnvironmentFailed({ message: `${requestOf(call, shop.id).path} answered ${response?.status}.` })
      : Effect.succeed(data)
  })

/** A key that nobody used yet, so that no limit is in the way. */
const freshKey = (runner: Runner, shop: KnownShop) =>
  Effect.gen(function* () {
    if (shop.off !== null) yield* runner.run(switchingOn(shop, shop.off))
    const active = shop.keys.filter(({ isRevoked }) => !isRevoked)
    if (active.length >= MAX_KEYS) yield* runner.run(revoking(shop, active[0]!))
    yield* runner.run(makingKey(shop, "full", "a key for the audit"))
    const key = shop.keys.at(-1)
    if (key === undefined || key.isRevoked)
      return yield* new EnvironmentFailed({ message: `No key could be made for shop ${shop.id}.` })
    return key
  })

/** Follows the feed to its end, as its till would have. */
const catchUp = (runner: Runner, shop: KnownShop, key: HeldKey) =>
  Effect.gen(function* () {
    for (let pages = 1; pages < MAX_PAGES; pages++) {
      const response = yield* runner.run(pollOf({ shop, key }, 100))
      if (response?.status === 429 || pages % PAGES_A_MINUTE === 0) yield* runner.moveClock({ advance_ms: 61_000 })
      else if (response?.status !== 200) return
      // A round that began before the last changes is followed by one that begins after them.
      if (response?.status === 200 && response.body.meta?.has_more === false && pages > 1) return
    }
  })

const listAll = (runner: Runner, shop: KnownShop, key: HeldKey) =>
  Effect.gen(function* () {
    const listed: Array<Ticket> = []
    let cursor: string | null = null
    for (let pages = 1; pages < MAX_PAGES; pages++) {
      const query = new URLSearchParams({ limit: "100", ...(cursor === null ? {} : { cursor }) })
      const response = yield* read(runner, shop, "list tickets", "", key, query.toString())
      if (response?.status === 429) {
        yield* runner.moveClock({ advance_ms: 61_000 })
        continue
      }
      listed.push(...(successOf<ReadonlyArray<Ticket>>(response) ?? []))
      cursor = (response?.body.meta?.next_cursor as string | null | undefined) ?? null
      if (cursor === null) break
    }
    return listed
  })

const closeShop = (runner: Runner, shop: KnownShop, key: HeldKey): Effect.Effect<ShopTrace, EnvironmentFailed> =>
  Effect.gen(function* () {
    const { clients } = runner.planning.actors
    const listed = yield* listAll(runner, shop, key)
    const cards = yield* Effect.forEach(clients, ({ id }) =>
      Effect.map(read(runner, shop, "get loyalty", id, key), (response) => ({
        client: id,
        status: response?.status ?? 0,
        data: successOf<Loyalty>(response)
      }))
    )
    return {
      id: shop.id,
      time_zone: shop.time_zone,
      webhook: shop.isWebhookSet ? yield* wanted<NonNullable<ShopTrace["webhook"]>>(runner, shop, "get webhook") : null,
      events: yield* wanted<ShopTrace["events"]>(runner, shop, "list events"),
      deliveries: yield* wanted<ShopTrace["deliveries"]>(runner, shop, "list deliveries"),
      notices: yield* wanted<ShopTrace["notices"]>(runner, shop, "list notices"),
      listed,
      synced: [...shop.feed.tickets.values()],
      cards
    }
  })

/** Everything that was asked for and not answered is asked for once more. */
const settleOpen = (runner: Runner) =>
  Effect.forEach(runner.planning.actors.shops, (shop) =>
    Effect.forEach([...shop.open], (attempt, i) =>
      Effect.zipRight(
        i % 20 === 0 ? runner.moveClock({ advance_ms: 61_000 }) : Effect.void,
        runner.run(attemptOf(shop, attempt, "plain", `repeat ${attempt.act}`))
      )
    )
  )

/** Ends a simulation: repeats what was left open, and asks for everything that the auditor needs. */
export const closing = (runner: Runner, started_at: number): Effect.Effect<Trace, EnvironmentFailed> =>
  Effect.gen(function* () {
    const { actors } = runner.planning
    runner.step += 1
    yield* settleOpen(runner)
    yield* runner.moveClock({ advance_ms: 61_000 })
    const keys = yield* Effect.forEach(actors.shops, (shop) => freshKey(runner, shop))
    yield* runner.moveClock({ advance_ms: 1 })
    yield* Effect.forEach(actors.shops, (shop, i) => catchUp(runner, shop, keys[i]!))
    yield* runner.moveClock({ advance_ms: 61_000 })
    yield* Effect.forEach(actors.shops, (shop, i) => catchUp(runner, shop, keys[i]!))
    const shops = yield* Effect.forEach(actors.shops, (shop, i) => closeShop(runner, shop, keys[i]!))
    return {
      started_at,
      ended_at: actors.now,
      exchanges: runner.recorder.exchanges,
      receptions: runner.recorder.receptions,
      shops,
      clients: actors.clients.map(({ id, phone }) => ({ id, phone }))
    }
  })
