import type { LoyaltyCard } from "@workshop/core/promise"
import type { Exchange } from "../../testkit/Api.js"
import { UNKNOWN_ID } from "../../testkit/Ids.js"
import { DAY } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { CaseEnvironment, CasePerson, CaseShop } from "../CaseEnvironment.js"
import { expectSame, expectShape, expectThat, type TestResponse } from "../Expectations.js"

/** Expects two responses to be equal except for the fields that differ in every response. */
const expectAlike = (blocked: Exchange, unknown: Exchange): void => {
  const [one, other] = [blocked.response, unknown.response]
  expectSame(one.status, other.status, "the status of a client who blocks", blocked)
  for (const name of new Set([...Object.keys(one.headers), ...Object.keys(other.headers)])) {
    if (name === "request-id" || name === "date") continue
    expectSame(one.headers[name], other.headers[name], `the header ${name} of a client who blocks`, blocked)
  }
  expectSame(one.body, other.body, "the body of a client who blocks", blocked)
}

/** Makes the same request for an unknown client and for a client who blocks the shop, each in its own shop. */
const compareUnknownAndBlocked = async (
  env: CaseEnvironment,
  send: (shop: CaseShop, client: CasePerson) => Promise<TestResponse>
) => {
  const unknownShop = await (await env.openShop()).enableProgram()
  const blockedShop = await (await env.openShop()).enableProgram()
  // This request makes the number of requests of both shops equal, because the headers of their limits are compared.
  await unknownShop.createTicket({ client_phone: env.unusedPhone() })
  const blocker = await blockedShop.openBlocker()
  const unknownClient = (await send(unknownShop, { id: UNKNOWN_ID, phone: env.unusedPhone() })).expectRefusal(
    404,
    "NOT_FOUND"
  )
  const blockedClient = (await send(blockedShop, blocker)).expectRefusal(404, "NOT_FOUND")
  expectAlike(blockedClient.exchange, unknownClient.exchange)
}

interface StampsAdded {
  readonly card: LoyaltyCard
  readonly added: number
  readonly rewards_unlocked: number
}

/** The clients that a shop can see, and their loyalty cards (Specification, Endpoints; Clients and loyalty). */
export const clientCases = casesOf("§4", [
  test("client-by-phone (rule-client-by-phone): A client who came to the counter can be looked up by phone number and by id, with the same data.", async (shop) => {
    await shop.enableProgram({ active: false })
    const { id, phone } = await shop.openKnownClient()
    const client = (await shop.lookUp(phone)).expectData({
      id,
      display_name: "Amira Ben Salah",
      tickets_open: 0,
      tickets_total: 0,
      loyalty: null
    })
    expectSame((await shop.get(`/clients/${id}`)).expectOk(), client, "the client by id")
  }),
  test("client-bare-plus (rule-create-phone-e164): A plus that is not escaped in the query is read as a plus.", async (shop) => {
    const { id, phone } = await shop.openKnownClient()
    ;(await shop.get(`/clients?phone=${phone}`)).expectData({ id })
  }),
  test("client-phone-invalid (rule-create-phone-e164): A look-up without a phone number, or with an invalid one, is a 400.", async (shop) => {
    for (const query of ["", "?phone=", "?phone=015123456789", "?phone=nobody"])
      (await shop.get(`/clients${query}`)).expectInvalid("query phone")
  }),
  test("client-hidden-name (rule-client-hidden-name): A client who hides their name is shown with their given name and an initial.", async (shop) => {
    const { id, phone } = await shop.openKnownClient({ hide_name: true })
    ;(await shop.lookUp(phone)).expectData({ display_name: "Amira B." })
    ;(await shop.create({ client_id: id })).expectData({ client: { id, display_name: "Amira B." } }, 201)
  }),
  test("client-counts (rule-client-counts): The response about a client counts their open tickets and all their tickets with this shop only.", async (shop) => {
    const otherShop = await shop.env.openShop()
    const client = await shop.openKnownClient()
    await otherShop.visit(client)
    await otherShop.createTicket({ client_id: client.id })
    for (const statuses of [[], ["ready"], ["impossible"], ["ready", "collected"]]) {
      const { id } = await shop.createTicket({ client_id: client.id })
      for (const status of statuses) (await shop.setStatus(id, status)).expectOk()
    }
    ;(await shop.lookUp(client.phone)).expectData({ tickets_open: 3, tickets_total: 4 })
  }),
  test("client-known-by-offer (rule-client-known-by-offer): A client is a 404 while their offer is open, and can be looked up once they accept it.", async (shop) => {
    const client = await shop.env.openAccount()
    await shop.createTicket({ client_phone: client.phone })
    ;(await shop.lookUp(client.phone)).expectRefusal(404, "NOT_FOUND")
    ;(await shop.get(`/clients/${client.id}`)).expectRefusal(404, "NOT_FOUND")
    await shop.env.answerOffer(client, "accept")
    ;(await shop.lookUp(client.phone)).expectData({ id: client.id, tickets_open: 1 })
  }),
  test("client-of-another-shop (rule-client-by-phone): A client whom only another shop knows is a 404.", async (shop) => {
    const otherShop = await shop.env.openShop()
    const client = await otherShop.openKnownClient()
    ;(await shop.lookUp(client.phone)).expectRefusal(404, "NOT_FOUND")
    ;(await shop.get(`/clients/${client.id}`)).expectRefusal(404, "NOT_FOUND")
    ;(await shop.get(`/clients/${client.id}/loyalty`)).expectRefusal(404, "NOT_FOUND")
  }),
  test("privacy-look-up (rule-privacy-look-up): A look-up by phone number of a client who blocks the shop gets the same 404 as an unknown number, with the same headers and body.", (shop) =>
    compareUnknownAndBlocked(shop.env, (shop, { phone }) => shop.lookUp(phone))),
  test("privacy-by-id (rule-privacy-look-up): A look-up by id of a client who blocks the shop gets the same 404 as an unknown id.", (shop) =>
    compareUnknownAndBlocked(shop.env, (shop, { id }) => shop.get(`/clients/${id}`))),
  test("privacy-loyalty (rule-privacy-look-up): The loyalty card of a client who blocks the shop gets the same 404 as the card of an unknown client.", (shop) =>
    compareUnknownAndBlocked(shop.env, (shop, { id }) => shop.get(`/clients/${id}/loyalty`))),
  test("privacy-stamps (rule-privacy-look-up): Adding stamps and redeeming a reward for a client who blocks the shop get the same 404 as for an unknown client.", async (shop) => {
    await compareUnknownAndBlocked(shop.env, (shop, client) => shop.addStamps(client, 1))
    await compareUnknownAndBlocked(shop.env, (shop, client) => shop.redeem(client))
  }),
  test("privacy-create (rule-privacy-look-up): Creating a ticket for a client who blocks the shop gets the same 404 as for an unknown client.", (shop) =>
    compareUnknownAndBlocked(shop.env, (shop, { id }) => shop.create({ client_id: id }))),
  test("privacy-offer (rule-create-offer): Creating a ticket with a phone number has the same response whether nobody has the number, a client has it, or a client who blocks the shop has it.", async (shop) => {
    const create = async (prepare: (shop: CaseShop) => Promise<string>) => {
      const client_phone = await prepare(shop)
      const countBefore = (await shop.listEventTypes()).length
      const response = await shop.create({ client_phone })
      const { client, state } = response.expectOk(201)
      const types = (await shop.listEventTypes()).slice(countBefore)
      const names = Object.keys(response.exchange.response.headers).sort()
      return { client, state, types, meta: response.meta, names }
    }
    const unknownPerson = await create(async () => shop.env.unusedPhone())
    expectSame(
      await create(async () => (await shop.env.openAccount()).phone),
      unknownPerson,
      "the response if an account has the number"
    )
    const blocked = await create(async (shop) => (await shop.openBlocker()).phone)
    expectSame(blocked, unknownPerson, "the response if the account's holder blocks the shop")
  }),
  test("block-hides-tickets (rule-privacy-look-up): A client who blocks the shop disappears from its tickets and from later events.", async (shop) => {
    await shop.enableProgram()
    const { client, id } = await shop.createClientTicket()
    await shop.createTicket({ client_phone: client.phone })
    await shop.env.answerOffer(client, "block")
    expectSame((await shop.readTicket(id)).client, null, "the ticket's client")
    const countBefore = (await shop.listEventTypes()).length
    ;(await shop.setStatus(id, "ready")).expectData({ client: null, notified_at: null })
    const events = (await shop.listEvents()).slice(countBefore)
    expectShape(events, [{ type: "ticket.ready", data: { ticket: { client: null } } }], "the events since")
  }),
  test("block-frees-ticket (rule-client-known-by-offer): A ticket whose client blocked the shop is linked to the next client who accepts it.", async (shop) => {
    const [blocker, other] = [await shop.openKnownClient(), await shop.env.openAccount()]
    const { id } = await shop.createTicket({ client_id: blocker.id, client_phone: other.phone })
    await shop.createTicket({ client_phone: blocker.phone })
    await shop.env.answerOffer(blocker, "block")
    await shop.env.answerOffer(other, "accept")
    expectShape((await shop.readTicket(id)).client, { id: other.id }, "the ticket's client")
    const [last] = (await shop.listEvents()).slice(-1)
    expectShape(last, { type: "client.linked", data: { ticket: { id }, client: { id: other.id } } }, "the last event")
  }),
  test("offer-abandoned (rule-client-known-by-offer): Accepting the offer of an abandoned ticket makes the client known to the shop and does not change the ticket.", async (shop) => {
    const client = await shop.env.openAccount()
    const { id } = await shop.createTicket({ client_phone: client.phone })
    await shop.env.advance(60 * DAY)
    const ticketBefore = await shop.readTicket(id)
    expectShape(ticketBefore, { state: "abandoned", client: null }, "the ticket")
    await shop.env.answerOffer(client, "accept")
    expectSame(await shop.readTicket(id), ticketBefore, "the ticket after the acceptance")
    ;(await shop.get(`/clients/${client.id}`)).expectOk()
  }),
  test("offer-own-client (rule-client-known-by-offer): A ticket created with a client's id is not offered to that client again.", async (shop) => {
    const client = await shop.openKnownClient()
    await shop.createTicket({ client_id: client.id, client_phone: client.phone })
    expectSame(await shop.env.callSandbox("get offers", client.id), [], "the client's offers")
  }),
  test("block-stays (rule-privacy-look-up): A later visit to the counter does not remove a block.", async (shop) => {
    const client = await shop.openBlocker()
    await shop.visit(client)
    ;(await shop.lookUp(client.phone)).expectRefusal(404, "NOT_FOUND")
  }),
  test("block-one-shop (rule-privacy-look-up): A client who blocks one shop stays visible to other shops.", async (shop) => {
    const otherShop = await shop.env.openShop()
    const client = await shop.openBlocker()
    await otherShop.visit(client)
    const response = await otherShop.lookUp(client.phone)
    expectThat(response.expectOk().id === client.id, "the client", response.data)
  }),
  test("loyalty-read (rule-loyalty-read): The loyalty response has the shop's programme and the client's card. A card that was never used has zeros.", async (shop) => {
    const program = { name: "Ten", stamps_required: 10, stamps_per_ticket: 2, reward_label: "A free hem" }
    const client = await shop.openLoyalClient(program)
    const card = { balance: 0, lifetime: 0, rewards_available: 0, rewards_redeemed: 0, updated_at: null }
    const response = await shop.get(`/clients/${client.id}/loyalty`)
    response.expectData({ program: { active: true, ...program }, card })
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: card })
  }),
  test("loyalty-off-read (rule-loyalty-read-2): While the programme is off, it and the card can still be read, and a look-up of the client shows no card.", async (shop) => {
    const client = await shop.openLoyalClient()
    ;(await shop.addStamps(client, 3)).expectOk()
    await shop.enableProgram({ active: false })
    ;(await shop.get(`/clients/${client.id}/loyalty`)).expectData({ program: { active: false }, card: { balance: 3 } })
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: null })
  }),
  test("loyalty-off-refuses (rule-loyalty-off-refuses): While the programme is off, adding stamps and redeeming a reward are a CONFLICT with the reason LOYALTY_OFF.", async (shop) => {
    const client = await shop.openLoyalClient({ active: false })
    ;(await shop.addStamps(client, 1)).expectConflict("LOYALTY_OFF")
    ;(await shop.redeem(client)).expectConflict("LOYALTY_OFF")
  }),
  test("stamps (rule-loyalty-read): Adding stamps returns the card, the number of stamps added and the number of rewards that they unlocked.", async (shop) => {
    const client = await shop.openLoyalClient({ stamps_required: 4 })
    const updated_at = await shop.env.readInstant()
    const emptyCard = { rewards_available: 0, rewards_redeemed: 0, updated_at }
    ;(await shop.addStamps<StampsAdded>(client, 3)).expectData({
      card: { balance: 3, lifetime: 3, ...emptyCard },
      added: 3,
      rewards_unlocked: 0
    })
    ;(await shop.addStamps<StampsAdded>(client, 9)).expectData({
      card: { balance: 12, lifetime: 12, rewards_available: 3 },
      added: 9,
      rewards_unlocked: 3
    })
  }),
  test("stamps-count (rule-stamps-2): A request can add 1 to 10 stamps.", async (shop) => {
    const client = await shop.openLoyalClient()
    for (const count of [0, 11, -1, 1.5, "3", null, undefined])
      (await shop.addStamps(client, count)).expectInvalid("body count")
    for (const count of [1, 10]) (await shop.addStamps(client, count)).expectData({ added: count })
  }),
  test("stamps-key-required (rule-idempotency-required): Adding stamps and redeeming a reward require an Idempotency-Key.", async (shop) => {
    const client = await shop.openLoyalClient()
    ;(await shop.addStamps(client, 1, { idempotencyKey: undefined })).expectInvalid("header Idempotency-Key")
    ;(await shop.redeem(client, { idempotencyKey: undefined })).expectInvalid("header Idempotency-Key")
  }),
  test("redeem (rule-loyalty-read): Redeeming a reward removes its stamps from the balance, names the reward, and does not change the lifetime stamps.", async (shop) => {
    const client = await shop.openLoyalClient({ stamps_required: 5, reward_label: "A free hem" })
    ;(await shop.addStamps(client, 10)).expectOk()
    await shop.env.advance(1)
    const redeemed_at = await shop.env.readInstant()
    ;(await shop.redeem<{ card: LoyaltyCard }>(client)).expectData({
      card: { balance: 5, lifetime: 10, rewards_available: 1, rewards_redeemed: 1, updated_at: redeemed_at },
      reward: { label: "A free hem", redeemed_at }
    })
  }),
  test("redeem-nothing (rule-redeem): Redeeming without a reward on the card is refused with NO_REWARD, and removes no stamps.", async (shop) => {
    const client = await shop.openLoyalClient({ stamps_required: 5 })
    ;(await shop.addStamps(client, 4)).expectOk()
    ;(await shop.redeem(client)).expectConflict("NO_REWARD")
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: { balance: 4, rewards_redeemed: 0 } })
  }),
  test("redeem-body (rule-redeem): A request to redeem a reward may have no body or an empty one, and a field in it is refused.", async (shop) => {
    const client = await shop.openLoyalClient({ stamps_required: 1 })
    ;(await shop.addStamps(client, 2)).expectOk()
    const path = `/clients/${client.id}/loyalty/redeem`
    ;(await shop.post(path, {}, { idempotencyKey: shop.env.uniqueText("redeem") })).expectOk()
    ;(await shop.post(path, { count: 1 }, { idempotencyKey: shop.env.uniqueText("redeem") })).expectInvalid(
      "body count"
    )
    ;(await shop.redeem(client)).expectOk()
  }),
  test("loyalty-card-by-shop (rule-loyalty-read-2): A client has a separate card with each shop.", async (shop) => {
    await shop.enableProgram()
    const otherShop = await (await shop.env.openShop()).enableProgram()
    const client = await shop.openKnownClient()
    await otherShop.visit(client)
    ;(await shop.addStamps(client, 2)).expectOk()
    expectSame((await otherShop.lookUp(client.phone)).expectOk().loyalty?.balance, 0, "the balance at the other shop")
  })
])
