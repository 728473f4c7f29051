import { expectSame } from "../Broken.js"
import { casesOf } from "../Case.js"
import type { Ticket } from "../Shapes.js"
import type { Shop } from "../Shop.js"
import { DAY, later, MINUTE, NOBODY } from "../World.js"

type Page = ReadonlyArray<Ticket>

const ids = (tickets: Page) => tickets.map(({ id }) => id)

const list = async (shop: Shop, query: string): Promise<ReadonlyArray<string>> =>
  ids((await shop.get<Page>(`/tickets?${query}`)).ok())

/** How tickets are listed and filtered (Specification, Endpoints; Lists and sync). */
export const listCases = casesOf("§4", [
  {
    id: "list-newest-first",
    rule: "The newest tickets come first; of one instant, those with the greater id.",
    anchor: "rule-list-newest-first",
    run: async (world) => {
      const shop = await world.shop()
      const old = await shop.ticket()
      await world.advance(1)
      const same = [(await shop.ticket()).id, (await shop.ticket()).id, (await shop.ticket()).id].sort().reverse()
      expectSame(await list(shop, ""), [...same, old.id], "the ids listed")
    }
  },
  {
    id: "list-default-page",
    rule: "A page holds 50 tickets where nothing is said, and says whether there are more.",
    anchor: "rule-list-default-page",
    run: async (world) => {
      const shop = await world.shop()
      for (let i = 0; i < 50; i++) {
        if (i % 25 === 0) await world.advance(MINUTE)
        await shop.ticket()
      }
      const whole = await shop.get<Page>("/tickets")
      expectSame(whole.withMeta({ has_more: false, next_cursor: null }).ok().length, 50, "the number listed")
      await world.advance(MINUTE)
      await shop.ticket()
      const part = await shop.get<Page>("/tickets")
      expectSame(part.withMeta({ has_more: true, next_cursor: /./ }).ok().length, 50, "the number listed")
    }
  },
  {
    id: "list-limit-range",
    rule: "The limit is 1 to 100; anything else is a 400 and not clamped.",
    anchor: "rule-list-default-page",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      for (const limit of ["1", "100"]) (await shop.get(`/tickets?limit=${limit}`)).ok()
      for (const limit of ["0", "101", "-1", "1.5", "ten", ""]) {
        ;(await shop.get(`/tickets?limit=${limit}`)).invalid("query limit")
      }
    }
  },
  {
    id: "list-unknown-parameter",
    rule: "A query parameter that is not known is refused by its name.",
    anchor: "rule-create-unknown-field",
    needs: "key",
    run: async (world) => {
      ;(await (await world.shop()).get("/tickets?sate=ready")).invalid("query sate")
    }
  },
  {
    id: "list-state",
    rule: "One or more states, comma separated, are the tickets in any of them; an unknown state is a 400.",
    anchor: "rule-list-state",
    run: async (world) => {
      const shop = await world.shop()
      const workshop = await shop.moved()
      const ready = await shop.moved("ready")
      const collected = await shop.moved("impossible", "collected")
      expectSame(await list(shop, "state=ready"), [ready.id], "ready")
      const both = [workshop.id, collected.id].sort().reverse()
      expectSame(await list(shop, "state=workshop,collected"), both, "workshop and collected")
      ;(await shop.get("/tickets?state=ready,lost")).invalid("query state")
    }
  },
  {
    id: "list-state-repeated",
    rule: "Several states may be given as several parameters; any other parameter given twice is a 400.",
    anchor: "rule-list-state",
    run: async (world) => {
      const shop = await world.shop()
      const ready = await shop.moved("ready")
      await shop.moved("impossible")
      await world.advance(1)
      const { id } = await shop.ticket()
      expectSame(await list(shop, "state=ready&state=workshop"), [id, ready.id], "the ids listed")
      ;(await shop.get("/tickets?limit=1&limit=1")).invalid("query limit")
    }
  },
  {
    id: "list-number",
    rule: "A number finds the tickets that have it; a number that no ticket can have is a 400.",
    anchor: "rule-list-state",
    run: async (world) => {
      const shop = await world.shop()
      await shop.ticket()
      const two = await shop.ticket()
      expectSame(await list(shop, "number=2"), [two.id], "number 2")
      expectSame(await list(shop, "number=9999"), [], "number 9999")
      for (const n of ["0", "10000", "x"]) (await shop.get(`/tickets?number=${n}`)).invalid("query number")
    }
  },
  {
    id: "list-phone",
    rule: "A phone number finds the tickets on which it was typed, with its plus escaped or not.",
    anchor: "rule-list-state",
    run: async (world) => {
      const shop = await world.shop()
      const phone = world.phone()
      const { id } = await shop.ticket({ client_phone: phone })
      await shop.ticket({ client_phone: world.phone() })
      expectSame(await list(shop, `phone=${encodeURIComponent(phone)}`), [id], "with %2B")
      expectSame(await list(shop, `phone=${phone}`), [id], "with a bare +")
      ;(await shop.get("/tickets?phone=12345")).invalid("query phone")
    }
  },
  {
    id: "list-external-ref",
    rule: "A reference finds the tickets that bear it.",
    anchor: "rule-list-state",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const external_ref = world.fresh("order")
      const { id } = await shop.ticket({ external_ref })
      await shop.ticket()
      expectSame(await list(shop, `external_ref=${external_ref}`), [id], "the ids listed")
    }
  },
  {
    id: "list-tracking-code",
    rule: "A tracking code finds its ticket however it is typed: case, hyphens and look-alikes do not count.",
    anchor: "rule-list-tracking-code",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const { id, tracking_code } = await shop.ticket()
      await shop.ticket()
      const code = tracking_code ?? ""
      const alike = code.replace("-", "").replaceAll("0", "o").replaceAll("1", "L")
      for (const typed of [code, code.toLowerCase(), alike])
        expectSame(await list(shop, `tracking_code=${typed}`), [id], `the ids listed for ${typed}`)
      for (const bad of ["", "7K3M-Q9X", "7K3M-Q9XDD", "7K3M-Q9XU"])
        (await shop.get(`/tickets?tracking_code=${bad}`)).invalid("query tracking_code")
    }
  },
  {
    id: "list-client",
    rule: "A client's id finds the tickets linked to them.",
    anchor: "rule-list-state",
    run: async (world) => {
      const shop = await world.shop()
      const client = await shop.known()
      const { id } = await shop.ticket({ client_id: client.id })
      await shop.ticket()
      expectSame(await list(shop, `client_id=${client.id}`), [id], "the client's tickets")
      expectSame(await list(shop, `client_id=${NOBODY}`), [], "nobody's tickets")
    }
  },
  {
    id: "list-created-between",
    rule: "created_after includes its instant, created_before does not.",
    anchor: "rule-list-state",
    run: async (world) => {
      const shop = await world.shop()
      const first = await shop.ticket()
      await world.advance(1000)
      const second = await shop.ticket()
      const between = (after: string, before: string) => list(shop, `created_after=${after}&created_before=${before}`)
      expectSame(await between(first.created_at, second.created_at), [first.id], "from the first to the second")
      const one = later(second.created_at, 1)
      expectSame(await between(later(first.created_at, 1), one), [second.id], "after the first")
    }
  },
  {
    id: "list-bare-date",
    rule: "A bare date means midnight in UTC.",
    anchor: "rule-list-state",
    run: async (world) => {
      const shop = await world.shop()
      const { id, created_at } = await shop.ticket()
      const day = created_at.slice(0, 10)
      const next = later(`${day}T00:00:00.000Z`, DAY).slice(0, 10)
      expectSame(await list(shop, `created_after=${day}&created_before=${next}`), [id], "the day's tickets")
      expectSame(await list(shop, `created_after=${next}`), [], "the next day's")
      expectSame(await list(shop, `created_before=${day}`), [], "those before")
      ;(await shop.get("/tickets?created_after=yesterday")).invalid("query created_after")
    }
  },
  {
    id: "list-pages",
    rule: "Following the cursor meets every ticket once, in the order of the list, also where limits differ.",
    anchor: "rule-list-default-page",
    run: async (world) => {
      const shop = await world.shop()
      for (let i = 0; i < 9; i++) {
        if (i % 3 === 0) await world.advance(1)
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
    }
  },
  {
    id: "list-order-of-creation",
    rule: "Newest first means the order of creation, also within a millisecond.",
    anchor: "rule-list-newest-first",
    run: async (world) => {
      const shop = await world.shop()
      const made: Array<string> = []
      for (let i = 0; i < 12; i++) made.unshift((await shop.ticket()).id)
      const listed = (await shop.get<Page>("/tickets")).ok().map(({ id }) => id)
      expectSame(listed, made, "the ids, newest first")
    }
  },
  {
    id: "cursor-bound",
    rule: "A cursor belongs to its filters and its shop; with others, or damaged, it is a 400.",
    anchor: "rule-cursor-bound",
    run: async (world) => {
      const [shop, other] = [await world.shop(), await world.shop()]
      for (const each of [shop, other]) for (let i = 0; i < 3; i++) await each.ticket()
      const { next_cursor } = (await shop.get("/tickets?limit=1&state=workshop")).meta
      const cursor = encodeURIComponent(next_cursor ?? "")
      ;(await shop.get(`/tickets?limit=2&state=workshop&cursor=${cursor}`)).ok()
      ;(await shop.get(`/tickets?limit=1&cursor=${cursor}`)).invalid("query cursor")
      ;(await shop.get(`/tickets?limit=1&state=ready&cursor=${cursor}`)).invalid("query cursor")
      ;(await other.get(`/tickets?limit=1&state=workshop&cursor=${cursor}`)).invalid("query cursor")
      ;(await shop.get("/tickets?cursor=nonsense")).invalid("query cursor")
    }
  }
])
