import type { Ticket } from "../../testkit/Shapes.js"
import { HOUR, later } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { Shop } from "../Environment.js"
import { expectSame, expectShape, expectThat } from "../Expectations.js"

type Page = ReadonlyArray<Ticket>

const since = (shop: Shop, instant: string, more = "") =>
  shop.get<Page>(`/tickets?updated_since=${encodeURIComponent(instant)}${more}`)

const idsSince = async (shop: Shop, instant: string, more?: string): Promise<ReadonlyArray<string>> =>
  (await since(shop, instant, more)).ok().map(({ id }) => id)

/** Follows the cursor to the end; `between` runs after each page. Answers all that was seen, and where to go on. */
const follow = async (shop: Shop, instant: string, limit: number, between?: (page: number) => Promise<void>) => {
  const seen: Array<Ticket> = []
  let cursor = ""
  for (let page = 1; page <= 60; page++) {
    const answer = await since(shop, instant, `&limit=${limit}${cursor}`)
    seen.push(...answer.ok())
    if (answer.meta.has_more !== true) return { seen, synced_until: answer.meta.synced_until ?? "" }
    cursor = `&cursor=${encodeURIComponent(answer.meta.next_cursor ?? "")}`
    await between?.(page)
  }
  expectThat(false, "an end of the list within sixty pages", "more pages")
  return { seen, synced_until: "" }
}

/** How a till keeps its copy up to date (Specification, Endpoints; Webhooks; Lists and sync). */
export const syncingCases = casesOf("§4", [
  test("sync-order (rule-sync-order): With updated_since the tickets come in the order in which they changed.", async (shop) => {
    const start = await shop.env.instant()
    const made = [await shop.ticket(), await shop.ticket(), await shop.ticket()]
    await shop.env.advance(1)
    ;(await shop.status(made[0]!.id, "ready")).ok()
    await shop.env.advance(1)
    ;(await shop.status(made[2]!.id, "ready")).ok()
    expectSame(await idsSince(shop, start), [made[1]!.id, made[0]!.id, made[2]!.id], "the order")
  }),
  test("sync-inclusive (rule-sync-order): A change at the very instant asked for is among the answers, one before it is not.", async (shop) => {
    await shop.ticket()
    await shop.env.advance(1)
    const { id, updated_at } = await shop.ticket()
    expectSame(await idsSince(shop, updated_at), [id], "the ids")
    expectSame((await since(shop, later(updated_at, 1))).ok(), [], "a millisecond later")
  }),
  test("sync-bare-plus (rule-instants-offset): The instant may have an offset, whose + may arrive as a space, and a small t and z.", async (shop) => {
    const { id, updated_at } = await shop.ticket()
    const east = later(updated_at, HOUR).replace("Z", "+01:00")
    for (const since of [east, encodeURIComponent(east), updated_at.toLowerCase()]) {
      const found = (await shop.get<Page>(`/tickets?updated_since=${since}`)).ok()
      expectShape(found, [{ id }], `the tickets since ${since}`)
    }
  }),
  test("sync-meta (rule-sync-meta, key): synced_until comes with updated_since and only then.", async (shop) => {
    const { updated_at } = await shop.ticket()
    const with_it = await since(shop, updated_at)
    with_it.withMeta({ synced_until: /^\d{4}-/ }).ok()
    const without = await shop.get("/tickets?limit=1")
    expectThat(!("synced_until" in without.meta), "no synced_until", without.meta)
  }),
  test("sync-future (rule-sync-meta): synced_until is never later than the last change or the moment of the read, so a future updated_since hides nothing.", async (shop) => {
    const { updated_at } = await shop.ticket()
    await shop.env.advance(5)
    const { synced_until } = await follow(shop, later(await shop.env.instant(), 3_600_000), 10)
    expectSame(synced_until, updated_at, "synced_until")
  }),
  test("sync-rare-filter (rule-sync-meta): synced_until advances although a filter matches nothing.", async (shop) => {
    const start = await shop.env.instant()
    await shop.env.advance(5)
    const { updated_at } = await shop.ticket()
    const { meta } = await since(shop, start, "&external_ref=nobody")
    expectSame(meta.synced_until, updated_at, "synced_until")
  }),
  test("sync-equal-instants (rule-sync-equal-instants): Many changes in one millisecond are all met, at a page size of two.", async (shop) => {
    const start = await shop.env.instant()
    const made = []
    for (let i = 0; i < 9; i++) made.push((await shop.ticket()).id)
    const { seen } = await follow(shop, start, 2)
    expectSame(seen.map(({ id }) => id).sort(), [...made].sort(), "the tickets met")
  }),
  test("sync-while-writing (rule-sync-equal-instants): Who follows the cursor while the shop goes on working misses no change.", async (shop) => {
    const start = await shop.env.instant()
    const made: Array<Ticket> = []
    for (let i = 0; i < 6; i++) made.push(await shop.ticket())
    const { seen, synced_until } = await follow(shop, start, 2, async (page) => {
      if (page > 2) return // One that was met and one that was not, in the same millisecond as all before.
      ;(await shop.status(made[page - 1]!.id, "ready")).ok()
      ;(await shop.status(made[6 - page]!.id, "impossible")).ok()
    })
    const rest = await follow(shop, synced_until, 2)
    const copy = new Map([...seen, ...rest.seen].map((ticket) => [ticket.id, ticket.state]))
    const now = new Map<string, string>()
    for (const { id } of made) now.set(id, (await shop.read(id)).state)
    expectSame(Object.fromEntries(copy), Object.fromEntries(now), "the states in the copy")
  }),
  test("sync-goes-on (rule-sync-equal-instants): What changes after the last page is found from synced_until, and nothing of it is lost.", async (shop) => {
    const first = await shop.ticket()
    const { synced_until } = await follow(shop, first.created_at, 100)
    const second = await shop.ticket()
    await shop.env.advance(5)
    ;(await shop.status(first.id, "ready")).ok()
    const { seen } = await follow(shop, synced_until, 1)
    const copy = new Map(seen.map(({ id, state }) => [id, state]))
    expectSame(copy.get(second.id), "workshop", "the state of the second ticket in the copy")
    expectSame(copy.get(first.id), "ready", "the state of the first ticket in the copy")
  }),
  test("sync-any-change (rule-sync-order): A quote, a delay, a part, a client's link and a closure are changes too.", async (shop) => {
    const client = await shop.env.person()
    const { id } = await shop.ticket({ client_phone: client.phone })
    const acts: ReadonlyArray<() => Promise<unknown>> = [
      () => shop.env.act("propose quote", id, { price_minor: 5 }),
      () => shop.env.act("record part", id, { label: "Zip", status: "ordered" }),
      () => shop.env.answerOffer(client, "accept"),
      () => shop.notified(id)
    ]
    for (const act of acts) {
      await shop.env.advance(10)
      const instant = await shop.env.instant()
      await act()
      expectSame(await idsSince(shop, instant), [id], "the tickets that changed")
    }
  }),
  test("sync-filters (rule-sync-order): Filters hold beside updated_since.", async (shop) => {
    const start = await shop.env.instant()
    await shop.moved()
    const ready = await shop.moved("ready")
    expectSame(await idsSince(shop, start, "&state=ready"), [ready.id], "the ids")
    ;(await since(shop, "soon")).invalid("query updated_since")
  })
])
