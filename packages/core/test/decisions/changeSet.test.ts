import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { type ChangeSet, toUnchangedDecision } from "../../src/decisions/ChangeSet.js"
import { decide, makeCommand, withAuditEntry, withAuthor } from "../../src/decisions/Command.js"
import { changeStatus } from "../../src/decisions/changeStatus.js"
import { createTicket } from "../../src/decisions/createTicket.js"
import { editTicket } from "../../src/decisions/editTicket.js"
import type { AuditEntry } from "../../src/domain/AuditEntry.js"
import type { TicketId } from "../../src/domain/Identifier.js"
import type { LimitStatus } from "../../src/domain/LimitWindow.js"
import { ENTROPY_BYTES, IDENTIFIERS_PER_MS } from "../../src/domain/Moment.js"
import { AMIRA, HOUR, KARIM, momentAt, SECOND, SHOP, START, TestShop, ticketInput } from "./fixtures.js"

/** A command that collects changes, and nothing else. */
const collectCommand = <A>(collect: (changes: ChangeSet) => A) =>
  makeCommand(SHOP, {}, (_, changes) => changes.toDecision(collect(changes)))

const create = (fields: Record<string, unknown> = {}) =>
  createTicket(SHOP, ticketInput(fields), { via: "api", foundWords: [] })

describe("docs/embed.md: the author of a change", () => {
  it("a command with an author records the author in the history of changed tickets, and is otherwise the same command", () => {
    const shop = new TestShop()
    const author = { by: "caller", caller_id: "amira" } as const
    const id = shop.does(withAuthor(author, create())).id as TicketId
    shop.does(editTicket(SHOP, id, { item: "Coat", description: "Blue" } as never, []))
    shop.does(withAuthor(author, changeStatus(SHOP, id, "ready")))
    expect(shop.record(id).history).toStrictEqual([
      { at: START, type: "ticket.created", ...author },
      { at: START, type: "ticket.updated", changed: ["item", "description"], by: "service", caller_id: null },
      { at: START, type: "ticket.ready", ...author }
    ])
    const { loadRequests: asks, shop_id } = withAuthor(author, changeStatus(SHOP, id, "ready"))
    expect({ asks, shop_id }).toEqual({ asks: [{ _tag: "Ticket", id }], shop_id: SHOP })
  })
})

describe("the moment of a command", () => {
  it("adding an author to a command's Moment keeps its other fields, including fields that later versions add", () => {
    const moments: Array<object> = []
    const seeing = {
      ...create(),
      run: (_: unknown, moment: object) => {
        moments.push(moment)
        return toUnchangedDecision(null)
      }
    }
    const author = { by: "caller", caller_id: "amira" } as const
    const moment = { now: START, recorded_at: START, entropy: new Uint8Array(ENTROPY_BYTES), later: 1 }
    withAuthor(author, seeing).run({} as never, moment)
    expect(moments).toEqual([{ ...moment, author }])
  })
})

describe("docs/operating.md: an act of an owner is logged in the commit of its changes", () => {
  const logging = (entryOf: () => Pick<AuditEntry, "act" | "details"> | null) =>
    withAuditEntry(create(), "owner:amira", entryOf)

  it("an act's entry in the audit log has the actor, the act and the clock's time, even if the clock was set back", () => {
    const shop = new TestShop()
    shop.create()
    const { id: ticket } = shop.wait(-HOUR).does(logging(() => ({ act: "key.created", details: { name: "Till" } })))
    expect(shop.last.changes.map(({ _tag }) => _tag)).toEqual(["TicketPut", "EventRaised", "HeadPut", "AuditAppended"])
    expect(shop.rows("AuditAppended")).toEqual([
      {
        shop_id: SHOP,
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7fff-/),
        created_at: START - HOUR,
        actor: "owner:amira",
        act: "key.created",
        details: { name: "Till" }
      }
    ])
    expect(shop.record(ticket).created_at).toBe(START)
  })

  it("a command that returns no act, or is refused, leaves no entry in the audit log", () => {
    const shop = new TestShop()
    shop.does(logging(() => null))
    expect(shop.rows("AuditAppended")).toEqual([])
    const entry = { act: "shop.changed", details: {} } as const
    const refused = withAuditEntry(changeStatus(SHOP, "t" as TicketId, "ready"), "owner:amira", () => entry)
    expect(shop.refuses(refused)._tag).toBe("TicketNotFound")
    expect(refused).toMatchObject({ shop_id: SHOP, loadRequests: [{ _tag: "Ticket", id: "t" }] })
  })
})

describe("Specification, States; Webhooks: a notification is saved in the commit of the change that caused it", () => {
  it.each([
    ["client", "NotificationAppended", (changes: ChangeSet) => changes.notifyClient({ client_id: AMIRA.id } as never)],
    ["owner", "NoticeAppended", (changes: ChangeSet) => changes.notifyOwner({ kind: "webhook_off" } as never)]
  ] as const)(
    "the queue entry for the %s has the id of its notification or notice, and is due at once",
    (receiver, tag, notify) => {
      const shop = new TestShop()
      shop.create()
      shop.wait(-SECOND).does(collectCommand((changes) => notify(changes)))
      const [row] = shop.rows(tag)
      const { id } = row!
      expect(row).toEqual({
        ...(receiver === "client" ? { client_id: AMIRA.id } : { kind: "webhook_off" }),
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        shop_id: SHOP,
        created_at: START
      })
      expect(shop.rows("QueuedNotificationPut")).toEqual([
        { shop_id: SHOP, id, receiver, attempts_made: 0, due_at: START - SECOND }
      ])
    }
  )
})

describe("docs/how-it-is-built.md: the result of a decision", () => {
  it("the result of a decision names the limits that it used", () => {
    const shop = new TestShop()
    const hour: LimitStatus = { policy: "tickets_per_hour", limit: 150, remaining: 9, resets_at: START + HOUR }
    const day: LimitStatus = { ...hour, policy: "tickets_per_day", limit: 600 }
    shop.does(collectCommand((changes) => void changes.addLimitStatuses(hour).addLimitStatuses(day)))
    expect(shop.last.limitStatuses).toEqual([hour, day])
    shop.does(collectCommand(() => null))
    expect(shop.last.limitStatuses).toEqual([])
  })

  it("a decision that changes nothing has neither changes nor limits", () => {
    expect(toUnchangedDecision("as before")).toEqual(
      Either.right({ result: "as before", changes: [], limitStatuses: [] })
    )
  })

  it("the address of a ticket's page begins with the shop's base, or with the process's base if the shop has none", () => {
    const urlOf = (tracking_base_url: string | null) => {
      const { slice } = new TestShop({ tracking_base_url })
      const moment = { ...momentAt(START), tracking_base_url: "https://pages.example/" }
      return Either.getOrThrow(decide(create(), slice, moment)).result.tracking_url
    }
    expect(urlOf("https://shop.example/")).toMatch(/^https:\/\/shop\.example\//)
    expect(urlOf(null)).toMatch(/^https:\/\/pages\.example\//)
  })
})

describe("Specification, Tickets: the counter in the identifiers of a shop", () => {
  /** The instant and the counter of an identifier. */
  const partsOf = (id: string) => [Number.parseInt(id.replace("-", "").slice(0, 12), 16), id.slice(15, 18)]
  const makes = (shop: TestShop, n = 1) =>
    shop.does(collectCommand((changes) => Array.from({ length: n }, () => changes.newId()))).map(partsOf)

  it("the counter in identifiers increases within a millisecond, and restarts at 0 in a later millisecond", () => {
    const shop = new TestShop()
    expect(makes(shop, 2).map(([, n]) => n)).toEqual(["000", "001"])
    expect(makes(shop)).toEqual([[START, "002"]])
    expect(makes(shop.wait(1))).toEqual([[START + 1, "000"]])
  })

  it("the counter uses every number of a millisecond, and then identifiers continue in the next millisecond", () => {
    const shop = new TestShop()
    shop.slice.head = { ...shop.slice.head, last_recorded_at: START, id_counter: IDENTIFIERS_PER_MS - 2 }
    expect(makes(shop)).toEqual([[START, "ffe"]])
    expect(makes(shop)).toEqual([[START, "fff"]])
    expect(makes(shop, 2)).toEqual([
      [START + 1, "000"],
      [START + 1, "001"]
    ])
  })

  it("identifiers that grant access use the same counter as other identifiers, but their own random bytes", () => {
    const shop = new TestShop()
    const ids = [KARIM, KARIM].flatMap(({ phone }) => [shop.create({ client_phone: phone }), shop.offer.id])
    expect(ids.map((id) => partsOf(id)[1])).toEqual([...new Set(ids.map((id) => partsOf(id)[1]))].sort())
    const moment = { now: START, entropy: new Uint8Array(ENTROPY_BYTES).fill(1, 8, 16) }
    const granted = decide(
      collectCommand((changes) => [changes.newId<string>(), changes.newGrantId<string>()]),
      shop.slice,
      moment
    )
    const [plain, grant] = Either.getOrThrow(granted).result
    expect([plain, grant].map((id) => id!.slice(19))).toEqual(["8000-000000000000", "8101-010101010101"])
  })
})
