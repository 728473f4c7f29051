import { UNKNOWN_ID } from "../../testkit/Ids.js"
import type { TicketJson } from "../../testkit/ResponseTypes.js"
import { addMs, DAY, HOUR, MINUTE } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { CaseShop } from "../CaseEnvironment.js"
import { expectSame, expectShape, expectThat } from "../Expectations.js"

type Page = ReadonlyArray<TicketJson>

const idsOf = (tickets: Page) => tickets.map(({ id }) => id)

const listIds = async (shop: CaseShop, query: string): Promise<ReadonlyArray<string>> =>
  idsOf((await shop.get<Page>(`/tickets?${query}`)).expectOk())

const listUpdatedSince = (shop: CaseShop, instant: string, query = "") =>
  shop.get<Page>(`/tickets?updated_since=${encodeURIComponent(instant)}${query}`)

const listIdsUpdatedSince = async (shop: CaseShop, instant: string, query?: string): Promise<ReadonlyArray<string>> =>
  (await listUpdatedSince(shop, instant, query)).expectOk().map(({ id }) => id)

/** Reads all pages and runs `onPage` after each. Returns all tickets, and where the next read begins. */
const followPages = async (
  shop: CaseShop,
  instant: string,
  limit: number,
  onPage?: (page: number) => Promise<void>
) => {
  const tickets: Array<TicketJson> = []
  let cursor = ""
  for (let page = 1; page <= 60; page++) {
    const response = await listUpdatedSince(shop, instant, `&limit=${limit}${cursor}`)
    tickets.push(...response.expectOk())
    if (response.meta.has_more !== true) return { seen: tickets, synced_until: response.meta.synced_until ?? "" }
    cursor = `&cursor=${encodeURIComponent(response.meta.next_cursor ?? "")}`
    await onPage?.(page)
  }
  expectThat(false, "an end of the list within sixty pages", "more pages")
  return { seen: tickets, synced_until: "" }
}

/** Lists, filters and cursors, and how a till keeps its copy up to date (Specification, Endpoints; Lists and sync). */
export const listCases = casesOf("§4", [
  test("list-newest-first (rule-list-newest-first): The newest tickets come first. Tickets of the same instant are ordered by id, the greatest first.", async (shop) => {
    const old = await shop.createTicket()
    await shop.env.advance(1)
    const same = [(await shop.createTicket()).id, (await shop.createTicket()).id, (await shop.createTicket()).id]
      .sort()
      .reverse()
    expectSame(await listIds(shop, ""), [...same, old.id], "the ids listed")
  }),
  test("list-default-page (rule-list-default-page): A page has 50 tickets by default, and says whether there are more.", async (shop) => {
    for (let i = 0; i < 50; i++) {
      if (i % 25 === 0) await shop.env.advance(MINUTE)
      await shop.createTicket()
    }
    const whole = await shop.get<Page>("/tickets")
    expectSame(whole.expectMeta({ has_more: false, next_cursor: null }).expectOk().length, 50, "the number listed")
    await shop.env.advance(MINUTE)
    await shop.createTicket()
    const part = await shop.get<Page>("/tickets")
    expectSame(part.expectMeta({ has_more: true, next_cursor: /./ }).expectOk().length, 50, "the number listed")
  }),
  test("list-limit-range (rule-list-default-page, key): A limit from 1 to 100 is accepted. Any other limit is a 400, and is not clamped.", async (shop) => {
    for (const limit of ["1", "100"]) (await shop.get(`/tickets?limit=${limit}`)).expectOk()
    for (const limit of ["0", "101", "-1", "1.5", "ten", ""])
      (await shop.get(`/tickets?limit=${limit}`)).expectInvalid("query limit")
  }),
  test("list-unknown-parameter (rule-create-unknown-field, key): An unknown query parameter is refused, and the error names it.", async (shop) => {
    ;(await shop.get("/tickets?sate=ready")).expectInvalid("query sate")
  }),
  test("list-state (rule-list-state): A list of states separated by commas selects the tickets in any of them. An unknown state is a 400.", async (shop) => {
    const workshop = await shop.createAndMove()
    const ready = await shop.createAndMove("ready")
    const collected = await shop.createAndMove("impossible", "collected")
    expectSame(await listIds(shop, "state=ready"), [ready.id], "ready")
    const ids = [workshop.id, collected.id].sort().reverse()
    expectSame(await listIds(shop, "state=workshop,collected"), ids, "workshop and collected")
    ;(await shop.get("/tickets?state=ready,lost")).expectInvalid("query state")
  }),
  test("list-state-repeated (rule-list-state): The parameter state may be repeated. Any other parameter that is repeated is a 400.", async (shop) => {
    const ready = await shop.createAndMove("ready")
    await shop.createAndMove("impossible")
    await shop.env.advance(1)
    const { id } = await shop.createTicket()
    expectSame(await listIds(shop, "state=ready&state=workshop"), [id, ready.id], "the ids listed")
    ;(await shop.get("/tickets?limit=1&limit=1")).expectInvalid("query limit")
  }),
  test("list-number (rule-list-state): The parameter number selects the tickets with that number. A number that no ticket can have is a 400.", async (shop) => {
    await shop.createTicket()
    const two = await shop.createTicket()
    expectSame(await listIds(shop, "number=2"), [two.id], "number 2")
    expectSame(await listIds(shop, "number=9999"), [], "number 9999")
    for (const n of ["0", "10000", "x"]) (await shop.get(`/tickets?number=${n}`)).expectInvalid("query number")
  }),
  test("list-phone (rule-list-state): The parameter phone selects the tickets on which that number was typed, whether its plus is escaped or not.", async (shop) => {
    const phone = shop.env.unusedPhone()
    const { id } = await shop.createTicket({ client_phone: phone })
    await shop.createTicket({ client_phone: shop.env.unusedPhone() })
    expectSame(await listIds(shop, `phone=${encodeURIComponent(phone)}`), [id], "with %2B")
    expectSame(await listIds(shop, `phone=${phone}`), [id], "with a bare +")
    ;(await shop.get("/tickets?phone=12345")).expectInvalid("query phone")
  }),
  test("list-external-ref (rule-list-state, key): The parameter external_ref selects the tickets with that reference.", async (shop) => {
    const external_ref = shop.env.uniqueText("order")
    const { id } = await shop.createTicket({ external_ref })
    await shop.createTicket()
    expectSame(await listIds(shop, `external_ref=${external_ref}`), [id], "the ids listed")
  }),
  test("list-tracking-code (rule-list-tracking-code, key): A tracking code finds its ticket regardless of case, hyphens and look-alike characters.", async (shop) => {
    const { id, tracking_code } = await shop.createTicket()
    await shop.createTicket()
    const code = tracking_code ?? ""
    const confusedCode = code.replace("-", "").replaceAll("0", "o").replaceAll("1", "L")
    for (const typed of [code, code.toLowerCase(), confusedCode])
      expectSame(await listIds(shop, `tracking_code=${typed}`), [id], `the ids listed for ${typed}`)
    for (const badCode of ["", "7K3M-Q9X", "7K3M-Q9XDD", "7K3M-Q9XU"])
      (await shop.get(`/tickets?tracking_code=${badCode}`)).expectInvalid("query tracking_code")
  }),
  test("list-client (rule-list-state): The parameter client_id selects the tickets linked to that client.", async (shop) => {
    const { client, id } = await shop.createClientTicket()
    await shop.createTicket()
    expectSame(await listIds(shop, `client_id=${client.id}`), [id], "the client's tickets")
    expectSame(await listIds(shop, `client_id=${UNKNOWN_ID}`), [], "nobody's tickets")
  }),
  test("list-created-between (rule-list-state): created_after includes its own instant, and created_before excludes it.", async (shop) => {
    const first = await shop.createTicket()
    await shop.env.advance(1000)
    const second = await shop.createTicket()
    const listCreatedBetween = (after: string, before: string) =>
      listIds(shop, `created_after=${after}&created_before=${before}`)
    expectSame(
      await listCreatedBetween(first.created_at, second.created_at),
      [first.id],
      "from the first to the second"
    )
    const one = addMs(second.created_at, 1)
    expectSame(await listCreatedBetween(addMs(first.created_at, 1), one), [second.id], "after the first")
  }),
  test("list-bare-date (rule-list-state): A date without a time means midnight in UTC.", async (shop) => {
    const { id, created_at } = await shop.createTicket()
    const day = created_at.slice(0, 10)
    const next = addMs(`${day}T00:00:00.000Z`, DAY).slice(0, 10)
    expectSame(await listIds(shop, `created_after=${day}&created_before=${next}`), [id], "the day's tickets")
    expectSame(await listIds(shop, `created_after=${next}`), [], "the next day's")
    expectSame(await listIds(shop, `created_before=${day}`), [], "those before")
    ;(await shop.get("/tickets?created_after=yesterday")).expectInvalid("query created_after")
  }),
  test("list-pages (rule-list-default-page): Following the cursor returns every ticket once, in the order of the list, even if the limit changes between pages.", async (shop) => {
    for (let i = 0; i < 9; i++) {
      if (i % 3 === 0) await shop.env.advance(1)
      await shop.createTicket()
    }
    const allIds = await listIds(shop, "")
    const seen: Array<string> = []
    let cursor = ""
    for (const [limit, more] of [
      [2, true],
      [3, true],
      [1, true],
      [3, false]
    ] as const) {
      const page = await shop.get<Page>(`/tickets?limit=${limit}${cursor}`)
      seen.push(...idsOf(page.expectMeta({ has_more: more }).expectOk()))
      cursor = `&cursor=${encodeURIComponent(page.meta.next_cursor ?? "")}`
    }
    expectSame(seen, allIds, "the ids of all pages")
  }),
  test("list-order-of-creation (rule-list-newest-first): The list is in the order of creation, even for tickets of the same millisecond.", async (shop) => {
    const created: Array<string> = []
    for (let i = 0; i < 12; i++) created.unshift((await shop.createTicket()).id)
    const listed = (await shop.get<Page>("/tickets")).expectOk().map(({ id }) => id)
    expectSame(listed, created, "the ids, newest first")
  }),
  test("cursor-bound (rule-cursor-bound): A cursor is valid only for its own filters and its own shop. A damaged cursor, or one used with others, is a 400.", async (shop) => {
    const otherShop = await shop.env.openShop()
    for (const eachShop of [shop, otherShop]) for (let i = 0; i < 3; i++) await eachShop.createTicket()
    const { next_cursor } = (await shop.get("/tickets?limit=1&state=workshop")).meta
    const cursor = encodeURIComponent(next_cursor ?? "")
    ;(await shop.get(`/tickets?limit=2&state=workshop&cursor=${cursor}`)).expectOk()
    ;(await shop.get(`/tickets?limit=1&cursor=${cursor}`)).expectInvalid("query cursor")
    ;(await shop.get(`/tickets?limit=1&state=ready&cursor=${cursor}`)).expectInvalid("query cursor")
    ;(await otherShop.get(`/tickets?limit=1&state=workshop&cursor=${cursor}`)).expectInvalid("query cursor")
    ;(await shop.get("/tickets?cursor=nonsense")).expectInvalid("query cursor")
  }),
  test("sync-order (rule-sync-order): With updated_since, tickets are listed in the order in which they changed.", async (shop) => {
    const start = await shop.env.readInstant()
    const tickets = [await shop.createTicket(), await shop.createTicket(), await shop.createTicket()]
    await shop.env.advance(1)
    ;(await shop.setStatus(tickets[0]!.id, "ready")).expectOk()
    await shop.env.advance(1)
    ;(await shop.setStatus(tickets[2]!.id, "ready")).expectOk()
    expectSame(await listIdsUpdatedSince(shop, start), [tickets[1]!.id, tickets[0]!.id, tickets[2]!.id], "the order")
  }),
  test("sync-inclusive (rule-sync-order): With updated_since, a change at exactly that instant is listed, and an earlier one is not.", async (shop) => {
    await shop.createTicket()
    await shop.env.advance(1)
    const { id, updated_at } = await shop.createTicket()
    expectSame(await listIdsUpdatedSince(shop, updated_at), [id], "the ids")
    expectSame((await listUpdatedSince(shop, addMs(updated_at, 1))).expectOk(), [], "a millisecond later")
  }),
  test("sync-bare-plus (rule-instants-offset): An instant may have an offset, whose plus may arrive as a space, and a lower-case t and z.", async (shop) => {
    const { id, updated_at } = await shop.createTicket()
    const sameInstantEast = addMs(updated_at, HOUR).replace("Z", "+01:00")
    for (const since of [sameInstantEast, encodeURIComponent(sameInstantEast), updated_at.toLowerCase()]) {
      const changed = (await shop.get<Page>(`/tickets?updated_since=${since}`)).expectOk()
      expectShape(changed, [{ id }], `the tickets since ${since}`)
    }
  }),
  test("sync-meta (rule-sync-meta, key): meta has synced_until if the request has updated_since, and only then.", async (shop) => {
    const { updated_at } = await shop.createTicket()
    const with_it = await listUpdatedSince(shop, updated_at)
    with_it.expectMeta({ synced_until: /^\d{4}-/ }).expectOk()
    const without = await shop.get("/tickets?limit=1")
    expectThat(!("synced_until" in without.meta), "no synced_until", without.meta)
  }),
  test("sync-future (rule-sync-meta): synced_until is never later than the last change or the time of the read, so an updated_since in the future hides no change.", async (shop) => {
    const { updated_at } = await shop.createTicket()
    await shop.env.advance(5)
    const { synced_until } = await followPages(shop, addMs(await shop.env.readInstant(), 3_600_000), 10)
    expectSame(synced_until, updated_at, "synced_until")
  }),
  test("sync-rare-filter (rule-sync-meta): synced_until advances even if no ticket matches the filter.", async (shop) => {
    const start = await shop.env.readInstant()
    await shop.env.advance(5)
    const { updated_at } = await shop.createTicket()
    const { meta } = await listUpdatedSince(shop, start, "&external_ref=nobody")
    expectSame(meta.synced_until, updated_at, "synced_until")
  }),
  test("sync-equal-instants (rule-sync-equal-instants): A sync with a page size of two returns all of many changes in the same millisecond.", async (shop) => {
    const start = await shop.env.readInstant()
    const created = []
    for (let i = 0; i < 9; i++) created.push((await shop.createTicket()).id)
    const { seen } = await followPages(shop, start, 2)
    expectSame(seen.map(({ id }) => id).sort(), [...created].sort(), "the tickets that the sync returned")
  }),
  test("sync-while-writing (rule-sync-equal-instants): A till that follows the cursor while the shop keeps changing tickets misses no change.", async (shop) => {
    const start = await shop.env.readInstant()
    const tickets: Array<TicketJson> = []
    for (let i = 0; i < 6; i++) tickets.push(await shop.createTicket())
    const { seen, synced_until } = await followPages(shop, start, 2, async (page) => {
      if (page > 2)
        return // Changes a ticket that was read and a ticket that was not, in the same millisecond as all earlier changes.
      ;(await shop.setStatus(tickets[page - 1]!.id, "ready")).expectOk()
      ;(await shop.setStatus(tickets[6 - page]!.id, "impossible")).expectOk()
    })
    const rest = await followPages(shop, synced_until, 2)
    const copy = new Map([...seen, ...rest.seen].map((ticket) => [ticket.id, ticket.state]))
    const now = new Map<string, string>()
    for (const { id } of tickets) now.set(id, (await shop.readTicket(id)).state)
    expectSame(Object.fromEntries(copy), Object.fromEntries(now), "the states in the copy")
  }),
  test("sync-goes-on (rule-sync-equal-instants): A sync that continues from synced_until returns every change made after the last page.", async (shop) => {
    const first = await shop.createTicket()
    const { synced_until } = await followPages(shop, first.created_at, 100)
    const second = await shop.createTicket()
    await shop.env.advance(5)
    ;(await shop.setStatus(first.id, "ready")).expectOk()
    const { seen } = await followPages(shop, synced_until, 1)
    const copy = new Map(seen.map(({ id, state }) => [id, state]))
    expectSame(copy.get(second.id), "workshop", "the state of the second ticket in the copy")
    expectSame(copy.get(first.id), "ready", "the state of the first ticket in the copy")
  }),
  test("sync-any-change (rule-sync-order): A quote, a delay, a part, the link of a client and a closure each make the ticket appear in the sync again.", async (shop) => {
    const client = await shop.env.openAccount()
    const { id } = await shop.createTicket({ client_phone: client.phone })
    const changes: ReadonlyArray<() => Promise<unknown>> = [
      () => shop.env.callSandbox("propose quote", id, { price_minor: 5 }),
      () => shop.env.callSandbox("record part", id, { label: "Zip", status: "ordered" }),
      () => shop.env.answerOffer(client, "accept"),
      () => shop.recordNotified(id)
    ]
    for (const change of changes) {
      await shop.env.advance(10)
      const instant = await shop.env.readInstant()
      await change()
      expectSame(await listIdsUpdatedSince(shop, instant), [id], "the tickets that changed")
    }
  }),
  test("sync-filters (rule-sync-order): Filters also apply to a list with updated_since.", async (shop) => {
    const start = await shop.env.readInstant()
    await shop.createAndMove()
    const ready = await shop.createAndMove("ready")
    expectSame(await listIdsUpdatedSince(shop, start, "&state=ready"), [ready.id], "the ids")
    ;(await listUpdatedSince(shop, "soon")).expectInvalid("query updated_since")
  })
])
