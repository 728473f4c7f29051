import { Effect } from "effect"
import { attemptOn } from "./acts/attempts.js"
import { keyErrand, onErrand, revokeErrand } from "./acts/ownerActs.js"
import { pollErrand } from "./acts/readActs.js"
import type { ClosedShop, Evidence, SeenLoyalty, SeenTicket } from "./auditor/Evidence.js"
import { type Errand, successOf } from "./Errand.js"
import { FaceBroken } from "./Face.js"
import type { Play } from "./Play.js"
import type { HeldKey, KnownShop } from "./Town.js"

const MOST_KEYS = 5
/** Bounds the pages that are read of one list; a key has 120 requests a minute. */
const PAGES_A_MINUTE = 100
const MOST_PAGES = 10_000

const asked = (play: Play, shop: KnownShop | null, path: string, key?: HeldKey, query = "") => {
  const errand: Errand = {
    actor: "auditor",
    act: "audit",
    shop: shop?.id ?? null,
    method: "GET",
    path,
    query,
    ...(key === undefined ? {} : { key })
  }
  return play.run(errand)
}

const wanted = <A>(play: Play, shop: KnownShop, path: string): Effect.Effect<A, FaceBroken> =>
  Effect.flatMap(asked(play, shop, path), (answer) => {
    const data = successOf<A>(answer)
    return data === null
      ? Effect.fail(new FaceBroken({ message: `${path} answered ${answer?.status}.` }))
      : Effect.succeed(data)
  })

/** A key that nobody used yet, so that no limit is in the way. */
const freshKey = (play: Play, shop: KnownShop) =>
  Effect.gen(function* () {
    if (shop.off !== null) yield* play.run(onErrand(shop, shop.off))
    const active = shop.keys.filter(({ isRevoked }) => !isRevoked)
    if (active.length >= MOST_KEYS) yield* play.run(revokeErrand(shop, active[0]!))
    yield* play.run(keyErrand(shop, "full", "a key for the audit"))
    const key = shop.keys.at(-1)
    if (key === undefined || key.isRevoked)
      return yield* new FaceBroken({ message: `No key could be made for shop ${shop.id}.` })
    return key
  })

/** Follows the feed to its end, as its till would have. */
const catchUp = (play: Play, shop: KnownShop, key: HeldKey) =>
  Effect.gen(function* () {
    for (let pages = 1; pages < MOST_PAGES; pages++) {
      const answer = yield* play.run(pollErrand(shop, key, 100))
      if (answer?.status === 429 || pages % PAGES_A_MINUTE === 0) yield* play.moveClock({ advance_ms: 61_000 })
      else if (answer?.status !== 200) return
      // A round that began before the last changes is followed by one that begins after them.
      if (answer?.status === 200 && answer.body.meta?.has_more === false && pages > 1) return
    }
  })

const listAll = (play: Play, shop: KnownShop, key: HeldKey) =>
  Effect.gen(function* () {
    const listed: Array<SeenTicket> = []
    let cursor: string | null = null
    for (let pages = 1; pages < MOST_PAGES; pages++) {
      const query = new URLSearchParams({ limit: "100", ...(cursor === null ? {} : { cursor }) })
      const answer = yield* asked(play, shop, "/v1/tickets", key, query.toString())
      if (answer?.status === 429) {
        yield* play.moveClock({ advance_ms: 61_000 })
        continue
      }
      listed.push(...(successOf<ReadonlyArray<SeenTicket>>(answer) ?? []))
      cursor = (answer?.body.meta?.next_cursor as string | null | undefined) ?? null
      if (cursor === null) break
    }
    return listed
  })

const closeShop = (play: Play, shop: KnownShop, key: HeldKey): Effect.Effect<ClosedShop, FaceBroken> =>
  Effect.gen(function* () {
    const { clients } = play.stage.town
    const base = `/sandbox/shops/${shop.id}`
    const listed = yield* listAll(play, shop, key)
    const cards = yield* Effect.forEach(clients, ({ id }) =>
      Effect.map(asked(play, shop, `/v1/clients/${id}/loyalty`, key), (answer) => ({
        client: id,
        status: answer?.status ?? 0,
        data: successOf<SeenLoyalty>(answer)
      }))
    )
    return {
      id: shop.id,
      time_zone: shop.time_zone,
      webhook: shop.isWebhookSet
        ? yield* wanted<NonNullable<ClosedShop["webhook"]>>(play, shop, `${base}/webhook`)
        : null,
      events: yield* wanted<ClosedShop["events"]>(play, shop, `${base}/events`),
      deliveries: yield* wanted<ClosedShop["deliveries"]>(play, shop, `${base}/deliveries`),
      notices: yield* wanted<ClosedShop["notices"]>(play, shop, `${base}/notices`),
      listed,
      synced: [...shop.feed.tickets.values()],
      cards
    }
  })

/** Everything that was asked for and not answered is asked for once more. */
const settleOpen = (play: Play) =>
  Effect.forEach(play.stage.town.shops, (shop) =>
    Effect.forEach([...shop.open], (attempt, i) =>
      Effect.zipRight(
        i % 20 === 0 ? play.moveClock({ advance_ms: 61_000 }) : Effect.void,
        play.run(attemptOn(shop, attempt, "plain", `repeat ${attempt.act}`))
      )
    )
  )

/** Ends a simulation: answers what was left open, and asks for everything that the auditor goes by. */
export const closing = (play: Play, started_at: number): Effect.Effect<Evidence, FaceBroken> =>
  Effect.gen(function* () {
    const { town } = play.stage
    play.step += 1
    yield* settleOpen(play)
    yield* play.moveClock({ advance_ms: 61_000 })
    const keys = yield* Effect.forEach(town.shops, (shop) => freshKey(play, shop))
    yield* play.moveClock({ advance_ms: 1 })
    yield* Effect.forEach(town.shops, (shop, i) => catchUp(play, shop, keys[i]!))
    yield* play.moveClock({ advance_ms: 61_000 })
    yield* Effect.forEach(town.shops, (shop, i) => catchUp(play, shop, keys[i]!))
    const shops = yield* Effect.forEach(town.shops, (shop, i) => closeShop(play, shop, keys[i]!))
    return {
      started_at,
      ended_at: town.now,
      exchanges: play.witness.exchanges,
      receptions: play.witness.receptions,
      shops,
      clients: town.clients.map(({ id, phone }) => ({ id, phone }))
    }
  })
