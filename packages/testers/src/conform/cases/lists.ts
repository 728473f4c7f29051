import { UNKNOWN_ID } from "../../testkit/Ids.js"
import type { TicketJson } from "../../testkit/ResponseTypes.js"
import { DAY, HOUR, later, MINUTE } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { CaseShop } from "../CaseEnvironment.js"
import { expectSame, expectShape, expectThat } from "../Expectations.js"

type Page = ReadonlyArray<TicketJson>

const ids = (tickets: Page) => tickets.map(({ id }) => id)

const list = async (shop: CaseShop, query: string): Promise<ReadonlyArray<string>> =>
  ids((await shop.get<Page>(`/tickets?${query}`)).ok())

const since = (shop: CaseShop, instant: string, more = "") =>
  shop.get<Page>(`/tickets?updated_since=${encodeURIComponent(instant)}${more}`)

const idsSince = async (shop: CaseShop, instant: string, more?: string): Promise<ReadonlyArray<string>> =>
  (await since(shop, instant, more)).ok().map(({ id }) => id)

/** Reads all pages and runs `between` after each. Returns all tickets, and where the next read begins. */
const follow = async (shop: CaseShop, instant: string, limit: number, between?: (page: number) => Promise<void>) => {
  const seen: Array<TicketJson> = []
  let cursor = ""
  for (let page = 1; page <= 60; page++) {
    const response = await since(shop, instant, `&limit=${limit}${cursor}`)
    seen.push(...response.ok())
    if (response.meta.has_more !== true) return { seen, synced_until: response.meta.synced_until ?? "" }
    cursor = `&cursor=${encodeURIComponent(response.meta.next_cursor ?? "")}`
    await between?.(page)
  }
  expectThat(false, "an end of the list within sixty pages", "more pages")
  return { seen, synced_until: "" }
}

/** Lists, filters and cursors, and how a till keeps its copy up to date (Specification, Endpoints; Lists and sync). */
export const listCases = casesOf("§4", [
  test("list-newest-first (rule-list-newest-first): The newest tickets come first. Tickets of the same instant are ordered by id, the greatest first.", async (shop) => {
    const old = await shop.ticket()
    await shop.env.advance(1)
    const same = [(await shop.ticket()).id, (await shop.ticket()).id, (await shop.ticket()).id].sort().reverse()
    expectSame(await list(shop, ""), [...same, old.id], "the ids listed")
  }),
  test("list-default-page (rule-list-default-page): A page has 50 tickets by default, and says whether there are more.", async (shop) => {
    for (let i = 0; i < 50; i++) {
      if (i % 25 === 0) await shop.env.advance(MINUTE)
      await shop.ticket()
    }
    const whole = await shop.get<Page>("/tickets")
    expectSame(whole.withMeta({ has_more: false, next_cursor: null }).ok().length, 50, "the number listed")
    await shop.env.advance(MINUTE)
    await shop.ticket()
    const part = await shop.get<Page>("/tickets")
    expectSame(part.withMeta({ has_more: true, next_cursor: /./ }).ok().length, 50, "the number listed")
  }),
  test("list-limit-range (rule-list-default-page, key): A limit from 1 to 100 is accepted. Any other limit is a 400, and is not clamped.", async (shop) => {
    for (const limit of ["1", "100"]) (await shop.get(`/tickets?limit=${limit}`)).ok()
    for (const limit of ["0", "101", "-1", "1.5", "ten", ""])
      (await shop.get(`/tickets?limit=${limit}`)).invalid("query limit")
  }),
  test("list-unknown-parameter (rule-create-unknown-field, key): An unknown query parameter is refused, and the error names it.", async (shop) => {
    ;(await shop.get("/tickets?sate=ready")).invalid("query sate")
  }),
  test("list-state (rule-list-state): A list of states separated by commas selects the tickets in any of them. An unknown state is a 400.", async (shop) => {
    const workshop = await shop.moved()
    const ready = await shop.moved("ready")
    const collected = await shop.moved("impossible", "collected")
    expectSame(await list(shop, "state=ready"), [ready.id], "ready")
    const both = [workshop.id, collected.id].sort().reverse()
    expectSame(await list(shop, "state=workshop,collected"), both, "workshop and collected")
    ;(await shop.get("/tickets?state=ready,lost")).invalid("query state")
  }),
  test("list-state-repeated (rule-list-state): The parameter state may be repeated. Any other parameter that is repeated is a 400.", async (shop) => {
    const ready = await shop.moved("ready")
    await shop.moved("impossible")
    await shop.env.advance(1)
    const { id } = await shop.ticket()
    expectSame(await list(shop, "state=ready&state=workshop"), [id, ready.id], "the ids listed")
    ;(await shop.get("/tickets?limit=1&limit=1")).invalid("query limit")
  }),
  test("list-number (rule-list-state): The parameter number selects the tickets with that number. A number that no ticket can have is a 400.", async (shop) => {
    await shop.ticket()
    const two = await shop.ticket()
    expectSame(await list(shop, "number=2"), [two.id], "number 2")
    expectSame(await list(shop, "number=9999"), [], "number 9999")
    for (const n of ["0", "10000", "x"]) (await shop.get(`/tickets?number=${n}`)).invalid("query number")
  }),
  test("list-phone (rule-list-state): The parameter phone selects the tickets on which that number was typed, whether its plus is escaped or not.", async (shop) => {
    const phone = shop.env.phone()
    const { id } = await shop.ticket({ client_phone: phone })
    await shop.ticket({ client_phone: shop.env.phone() })
    expectSame(await list(shop, `phone=${encodeURIComponent(phone)}`), [id], "with %2B")
    expectSame(await list(shop, `phone=${phone}`), [id], "with a bare +")
    ;(await shop.get("/tickets?phone=12345")).invalid("query phone")
  }),
  test("list-external-ref (rule-list-state, key): The parameter external_ref selects the tickets with that reference.", async (shop) => {
    const external_ref = shop.env.fresh("order")
    const { id } = await shop.ticket({ external_ref })
    await shop.ticket()
    expectSame(await list(shop, `external_ref=${external_ref}`), [id], "the ids listed")
  }),
  test("list-tracking-code (rule-list-tracking-code, key): A tracking code finds its ticket regardless of case, hyphens and look-alike characters.", async (shop) => {
    const { id, tracking_code } = await shop.ticket()
    await shop.ticket()
    const code = tracking_code ?? ""
    const alike = code.replace("-", "").replaceAll("0", "o").replaceAll("1", "L")
    for (const typed of [code, code.toLowerCase(), alike])
      expectSame(await list(shop, `tracking_code=${typed}`), [id], `the ids listed for ${typed}`)
    for (const bad of ["", "7K3M-Q9X", "7K3M-Q9XDD", "7K3M-Q9XU"])
      (await shop.get(`/tickets?tracking_code=${bad}`)).invalid("query tracking_code")
  }),
  test("list-client (rule-list-state): The parameter client_id selects the tickets linked to that client.", async (shop) => {
    const { client, id } = await shop.clientTicket()
    await shop.ticket()
    expectSame(await list(shop, `client_id=${client.id}`), [id], "the client's tickets")
    expectSame(await list(shop, `client_id=${UNKNOWN_ID}`), [], "nobody's tickets")
  }),
  test("list-created-between (rule-list-state): created_after includes its own instant, and created_before excludes it.", async (shop) => {
    const first = await shop.ticket()
    await shop.env.advance(1000)
    const second = await shop.ticket()
    const between = (after: string, before: string) => list(shop, `created_after=${after}&created_before=${before}`)
    expectSame(await between(first.created_at, second.created_at), [first.id], "from the first to the second")
    const one = later(second.created_at, 1)
    expectSame(await between(later(first.created_at, 1), one), [second.id], "after the first")
  }),
  test("list-bare-date (rule-list-state): A date without a time means midnight in UTC.", async (shop) => {
    const { id, created_at } = await shop.ticket()
    const day = created_at.slice(0, 10)
    const next = later(`${day}T00:00:00.000Z`, DAY).slice(0, 10)
    expectSame(await list(shop, `created_after=${day}&created_before=${next}`), [id], "the day's tickets")
    expectSame(await list(shop, `created_after=${next}`), [], "the next day's")
    expectSame(await list(shop, `created_before=${day}`), [], "those before")
    ;(await shop.get("/tickets?created_after=yesterday")).invalid("query created_after")
  }),
  test("list-pages (rule-list-default-page): Following the cursor returns every ticket once, in the order of the list, even if the limit changes between pages.", async (shop) => {
    for (let i = 0; i < 9; i++) {
      if (i % 3 === 0) await shop.env.advance(1)
      await shop.ticket()
    }
    const all = await list(shop, "")
    const seen: Array<string> = []
    let cursor = ""
    for (const [limit, more] of [
      [2, true],
      [3, true],
      [1, true],
      [3, false]
    ] as const) {
      const page = await shop.get<Page>(`/tickets?limit=${limit}${cursor}`)
      seen.push(...ids(page.withMeta({ has_more: more }).ok()))
      cursor = `&cursor=${encodeURIComponent(page.meta.next_cursor ?? "")}`
    }
    expectSame(seen, all, "the ids of all pages")
  }),
  test("list-order-of-creation (rule-list-newest-first): The list is in the order of creation, even for tickets of the same millisecond.", async (shop) => {
    const created: Array<string> = []
    for (let i = 0; i < 12; i++) created.unshift((await shop.ticket()).id)
    const listed = (await shop.get<Page>("/tickets")).ok().map(({ id }) => id)
    expectSame(listed, created, "the ids, newest first")
  }),
  test("cursor-bound (rule-cursor-bound): A cursor is valid only for its own filters and its own shop. A damaged cursor, or one used with others, is a 400.", async (shop) => {
    const other = await shop.env.openShop()
    for (const each of [shop, other]) for (let i = 0; i < 3; i++) await each.ticket()
    const { next_cursor } = (await shop.get("/tickets?limit=1&state=workshop")).meta
    const cursor = encodeURIComponent(next_cursor ?? "")
    ;(await shop.get(`/tickets?limit=2&state=workshop&cursor=${cursor}`)).ok()
    ;(await shop.get(`/tickets?limit=1&cursor=${cursor}`)).invalid("query cursor")
    ;(await shop.get(`/tickets?limit=1&state=ready&cursor=${cursor}`)).invalid("query cursor")
    ;(await other.get(`/tickets?limit=1&state=workshop&cursor=${cursor}`)).invalid("query cursor")
    ;(await shop.get("/tickets?cursor=nonsense")).invalid("query cursor")
  }),
  test("sync-order (rule-sync-order): With updated_since, tickets are listed in the order in which they changed.", async (shop) => {
    const start = await shop.env.instant()
    const tickets = [await shop.ticket(), await shop.ticket(), await shop.ticket()]
    await shop.env.advance(1)
    ;(await shop.status(tickets[0]!.id, "ready")).ok()
    await shop.env.advance(1)
    ;(await shop.status(tickets[2]!.id, "ready")).ok()
    expectSame(await idsSince(shop, start), [tickets[1]!.id, tickets[0]!.id, tickets[2]!.id], "the order")
  }),
  test("sync-inclusive (rule-sync-order): With updated_since, a change at exactly that instant is listed, and an earlier one is not.", async (shop) => {
    await shop.ticket()
    await shop.env.advance(1)
    const { id, updated_at } = await shop.ticket()
    expectSame(await idsSince(shop, updated_at), [id], "the ids")
    expectSame((await since(shop, later(updated_at, 1))).ok(), [], "a millisecond later")
  }),
  test("sync-bare-plus (rule-instants-offset): An instant may have an offset, whose plus may arrive as a space, and a lower-case t and z.", async (shop) => {
    const { id, updated_at } = await shop.ticket()
    const east = later(updated_at, HOUR).replace("Z", "+01:00")
    for (const since of [east, encodeURIComponent(east), updated_at.toLowerCase()]) {
      const changed = (await shop.get<Page>(`/tickets?updated_since=${since}`)).ok()
      expectShape(changed, [{ id }], `the tickets since ${since}`)
    }
  }),
  test("sync-meta (rule-sync-meta, key): meta has synced_until if the request has updated_since, and only then.", async (shop) => {
    const { updated_at } = await shop.ticket()
    const with_it = await since(shop, updated_at)
    with_it.withMeta({ synced_until: /^\d{4}-/ }).ok()
    const without = await shop.get("/tickets?limit=1")
    expectThat(!("synced_until" in without.meta), "no synced_until", without.meta)
  }),
  test("sync-future (rule-sync-meta): synced_until is never later than the last change or the time of the read, so an updated_since in the future hides no change.", async (shop) => {
    const { updated_at } = await shop.ticket()
    await shop.env.advance(5)
    const { synced_until } = await follow(shop, later(await shop.env.instant(), 3_600_000), 10)
    expectSame(synced_until, updated_at, "synced_until")
  }),
  test("sync-rare-filter (rule-sync-meta): synced_until advances even if no ticket matches the filter.", async (shop) => {
    const start = await shop.env.instant()
    await shop.env.advance(5)
    const { updated_at } = await shop.ticket()
    const { meta } = await since(shop, start, "&external_ref=nobody")
    expectSame(meta.synced_until, updated_at, "synced_until")
  }),
  test("sync-equal-instants (rule-sync-equal-instants): A sync with a page size of two returns all of many changes in the same millisecond.", async (shop) => {
    const start = await shop.env.instant()
    const created = []
    for (let i = 0; i < 9; i++) created.push((await shop.ticket()).id)
    const { seen } = await follow(shop, start, 2)
    expectSame(seen.map(({ id }) => id).sort(), [...created].sort(), "the tickets that the sync returned")
  }),
  test("sync-while-writing (rule-sync-equal-instants): A till that follows the cursor while the shop keeps changing tickets misses no change.", async (shop) => {
    const start = await shop.env.instant()
    const tickets: Array<TicketJson> = []
    for (let i = 0; i < 6; i++) tickets.push(await shop.ticket())
    const { seen, synced_until } = await follow(shop, start, 2, async (page) => {
      if (page > 2)
        return // Changes a ticket that was read and one that was not, in the same millisecond as all earlier changes.
      ;(await shop.status(tickets[page - 1]!.id, "ready")).ok()
      ;(await shop.status(tickets[6 - page]!.id, "impossible")).ok()
    })
    const rest = await follow(shop, synced_until, 2)
    const copy = new Map([...seen, ...rest.seen].map((ticket) => [ticket.id, ticket.state]))
    const now = new Map<string, string>()
    for (const { id } of tickets) now.set(id, (await shop.read(id)).state)
    expectSame(Object.fromEntries(copy), Object.fromEntries(now), "the states in the copy")
  }),
  test("sync-goes-on (rule-sync-equal-instants): A sync that continues from synced_until returns every change made after the last page.", async (shop) => {
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
  test("sync-any-change (rule-sync-order): A quote, a delay, a part, the link of a client and a closure each make the ticket appear in the sync again.", async (shop) => {
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
  test("sync-filters (rule-sync-order): Filters also apply to a list with updated_since.", async (shop) => {
    const start = await shop.env.instant()
    await shop.moved()
    const ready = await shop.moved("ready")
    expectSame(await idsSince(shop, start, "&state=ready"), [ready.id], "the ids")
    ;(await since(shop, "soon")).invalid("query updated_since")
  })
])
