import type { TicketJson } from "../../testkit/ResponseTypes.js"
import { DAY } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import { expectSame } from "../Expectations.js"

/** The calls on a ticket that accept an Idempotency-Key, each with its body and a different body. */
const ACTS = [
  ["status", { status: "ready" }, { status: "collected" }],
  ["notified", { channel: "sms" }, { channel: "call" }]
] as const

/** The Idempotency-Key (Specification, Endpoints; Idempotency). */
export const idempotencyCases = casesOf("§4", [
  test("idempotency-optional (rule-idempotency-optional, key): A change of status or a recorded notification accepts an Idempotency-Key, and its repetition changes nothing.", async (shop) => {
    const { id } = await shop.createTicket()
    for (const [act, body, other] of ACTS) {
      const idempotencyKey = shop.env.uniqueText(act)
      const send = (sentBody: object) => shop.post(`/tickets/${id}/${act}`, sentBody, { idempotencyKey })
      const first = (await send(body)).expectMeta({ replayed: false }).expectOk()
      expectSame((await send(body)).expectMeta({ replayed: true }).expectOk(), first, "the repetition's data")
      ;(await send(other)).expectConflict("IDEMPOTENCY_KEY_REUSED")
    }
  }),
  test("idempotency-path-ticket (rule-replay-same-meaning, key): Using the Idempotency-Key of a change of status or of a notification for another ticket is a conflict.", async (shop) => {
    const [one, two] = [await shop.createTicket(), await shop.createTicket()]
    for (const [act, body] of ACTS) {
      const idempotencyKey = shop.env.uniqueText(act)
      ;(await shop.post(`/tickets/${one.id}/${act}`, body, { idempotencyKey })).expectOk()
      ;(await shop.post(`/tickets/${two.id}/${act}`, body, { idempotencyKey })).expectConflict("IDEMPOTENCY_KEY_REUSED")
    }
    expectSame(await shop.readTicket(two.id), two, "the other ticket")
  }),
  test("idempotency-required (rule-idempotency-required, key): Creating a ticket without an Idempotency-Key is a 400 that names the header.", async (shop) => {
    ;(await shop.create({}, { idempotencyKey: undefined })).expectInvalid("header Idempotency-Key")
  }),
  test("idempotency-length (rule-idempotency-required, key): An Idempotency-Key of 80 characters is accepted, and one of 81 is refused.", async (shop) => {
    const longestKey = shop.env.uniqueText("key").padEnd(80, "x")
    ;(await shop.create({}, { idempotencyKey: longestKey })).expectOk(201)
    ;(await shop.create({}, { idempotencyKey: `${longestKey}x` })).expectInvalid("header Idempotency-Key")
  }),
  test("replay (rule-replay, key): A repeated request is a 200 with the same ticket, marked as replayed in meta and in a header.", async (shop) => {
    const idempotencyKey = shop.env.uniqueText("replay")
    const first = await shop.create({ item: "Boots" }, { idempotencyKey })
    const ticket = first.expectMeta({ replayed: false }).expectHeader("Idempotent-Replayed", undefined).expectOk(201)
    const repeated = await shop.create({ item: "Boots" }, { idempotencyKey })
    expectSame(repeated.expectOk(200), ticket, "data of the replay", repeated.exchange)
    repeated.expectMeta({ replayed: true }).expectHeader("Idempotent-Replayed", "true")
  }),
  test("replay-no-duplicate (rule-replay): A repeated request creates no second ticket and raises no second event.", async (shop) => {
    const idempotencyKey = shop.env.uniqueText("replay")
    for (const status of [201, 200, 200]) (await shop.create({}, { idempotencyKey })).expectOk(status)
    expectSame((await shop.get<ReadonlyArray<TicketJson>>("/tickets")).expectOk().length, 1, "the number of tickets")
    expectSame(await shop.listEventTypes(), ["ticket.created"], "the shop's events")
  }),
  test("replay-as-it-was (rule-replay, key): A repeated request returns the ticket of the first response, even if the ticket has changed since.", async (shop) => {
    const idempotencyKey = shop.env.uniqueText("replay")
    const ticket = (await shop.create({}, { idempotencyKey })).expectOk(201)
    ;(await shop.setStatus(ticket.id, "ready")).expectOk()
    const repeated = await shop.create({}, { idempotencyKey })
    expectSame(repeated.expectOk(200), ticket, "data of the replay", repeated.exchange)
  }),
  test("replay-same-meaning (rule-replay-same-meaning, key): The order of members, spaces around a text and an explicit default do not make a request different.", async (shop) => {
    const idempotencyKey = shop.env.uniqueText("replay")
    ;(await shop.create({ service: "Hem", item: "Coat" }, { idempotencyKey })).expectOk(201)
    const raw = '{ "type": "repair", "item": "  Coat ", "description": null, "service": "Hem" }'
    ;(await shop.create({}, { idempotencyKey, raw })).expectMeta({ replayed: true }).expectOk(200)
  }),
  test("idempotency-reused (rule-idempotency-reused, key): The same Idempotency-Key with another body is a conflict.", async (shop) => {
    const idempotencyKey = shop.env.uniqueText("reused")
    ;(await shop.create({ item: "Coat" }, { idempotencyKey })).expectOk(201)
    ;(await shop.create({ item: "Boots" }, { idempotencyKey })).expectConflict("IDEMPOTENCY_KEY_REUSED")
  }),
  test("idempotency-refused-leaves-no-trace (rule-idempotency-refused-leaves-no-trace, key): After a refused request, the corrected body succeeds with the same Idempotency-Key.", async (shop) => {
    const idempotencyKey = shop.env.uniqueText("corrected")
    ;(await shop.create({ price_minor: -1 }, { idempotencyKey })).expectInvalid("body price_minor")
    ;(await shop.create({ price_minor: 1 }, { idempotencyKey })).expectMeta({ replayed: false }).expectOk(201)
  }),
  test("idempotency-by-key (rule-idempotency-by-key): Two API keys of a shop can use the same Idempotency-Key for different tickets.", async (shop) => {
    const otherKey = await shop.withKey({ preset: "full" })
    const first = (await shop.create({}, { idempotencyKey: "till 1" })).expectOk(201)
    const second = (await otherKey.create({}, { idempotencyKey: "till 1" })).expectOk(201)
    expectSame([first.number, second.number], [1, 2], "the numbers")
  }),
  test("idempotency-by-operation (rule-idempotency-by-key): An Idempotency-Key of a ticket's creation can be used again for the ticket's changes, for stamps and for a reward.", async (shop) => {
    const client = await shop.openLoyalClient()
    const { id } = (await shop.create({}, { idempotencyKey: "one" })).expectOk(201)
    for (const [act, body] of ACTS)
      (await shop.post(`/tickets/${id}/${act}`, body, { idempotencyKey: "one" }))
        .expectMeta({ replayed: false })
        .expectOk()
    ;(await shop.addStamps(client, 10, { idempotencyKey: "one" })).expectMeta({ replayed: false }).expectOk()
    ;(await shop.redeem(client, { idempotencyKey: "one" })).expectMeta({ replayed: false }).expectOk()
  }),
  test("idempotency-path (rule-replay-same-meaning): Using the Idempotency-Key of stamps or of a reward for another client is a conflict.", async (shop) => {
    await shop.enableProgram({ stamps_required: 1 })
    const [one, two] = [await shop.openKnownClient(), await shop.openKnownClient()]
    ;(await shop.addStamps(one, 1, { idempotencyKey: "s" })).expectOk()
    ;(await shop.addStamps(two, 1, { idempotencyKey: "s" })).expectConflict("IDEMPOTENCY_KEY_REUSED")
    ;(await shop.addStamps(two, 1)).expectOk()
    ;(await shop.redeem(one, { idempotencyKey: "r" })).expectOk()
    ;(await shop.redeem(two, { idempotencyKey: "r" })).expectConflict("IDEMPOTENCY_KEY_REUSED")
    ;(await shop.lookUp(two.phone)).expectData({ loyalty: { balance: 1, rewards_redeemed: 0 } })
  }),
  test("idempotency-parallel (rule-idempotency-parallel): Thirty identical requests at once create one ticket, and get one 201 and twenty-nine 200.", async (shop) => {
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => shop.create({}, { idempotencyKey: "together" }))
    )
    const statuses = responses.map(({ status }) => status).sort()
    expectSame(statuses, [...Array.from({ length: 29 }, () => 200), 201], "the statuses")
    expectSame(new Set(responses.map(({ data }) => data.id)).size, 1, "the number of tickets")
  }),
  test("idempotency-remembered (rule-idempotency-refused-leaves-no-trace): An Idempotency-Key is remembered for thirty days, and not longer.", async (shop) => {
    const first = (await shop.create({}, { idempotencyKey: "month" })).expectOk(201)
    await shop.env.advance(30 * DAY - 1)
    expectSame(
      (await shop.create({}, { idempotencyKey: "month" })).expectOk(200).id,
      first.id,
      "the id after almost thirty days"
    )
    await shop.env.advance(2 * DAY)
    ;(await shop.create({}, { idempotencyKey: "month" })).expectMeta({ replayed: false }).expectOk(201)
  }),
  test("replay-stamps (rule-replay): A repeated request for stamps adds none and returns the card of the first response.", async (shop) => {
    const client = await shop.openLoyalClient()
    const first = (await shop.addStamps(client, 3, { idempotencyKey: "s" })).expectMeta({ replayed: false }).expectOk()
    await shop.addStamps(client, 2)
    const repeated = await shop.addStamps(client, 3, { idempotencyKey: "s" })
    expectSame(
      repeated.expectMeta({ replayed: true }).expectHeader("Idempotent-Replayed", "true").expectOk(),
      first,
      "data"
    )
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: { balance: 5 } })
  }),
  test("replay-redeem (rule-replay): A repeated request to redeem a reward uses no second reward.", async (shop) => {
    const client = await shop.openLoyalClient({ stamps_required: 5 })
    ;(await shop.addStamps(client, 10)).expectOk()
    const first = (await shop.redeem(client, { idempotencyKey: "r" })).expectOk()
    const repeated = await shop.redeem(client, { idempotencyKey: "r" })
    expectSame(repeated.expectMeta({ replayed: true }).expectOk(), first, "data")
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: { balance: 5, rewards_redeemed: 1 } })
  }),
  test("replay-of-a-blocker (rule-replay): A repeated request returns the first response about a client, even if they have blocked the shop since.", async (shop) => {
    const client = await shop.openLoyalClient()
    const first = (await shop.addStamps(client, 1, { idempotencyKey: "s" })).expectOk()
    await shop.createTicket({ client_phone: client.phone })
    await shop.env.answerOffer(client, "block")
    expectSame((await shop.addStamps(client, 1, { idempotencyKey: "s" })).expectOk(), first, "data of the replay")
    ;(await shop.addStamps(client, 1)).expectRefusal(404, "NOT_FOUND")
  })
])
