import type { Card } from "../../testkit/Shapes.js"
import { casesOf, test } from "../Case.js"
import { expectSame } from "../Expectations.js"

interface Stamped {
  readonly card: Card
  readonly added: number
  readonly rewards_unlocked: number
}

/** Loyalty cards (Specification, Endpoints; Clients and loyalty). */
export const loyaltyCases = casesOf("§4", [
  test("loyalty-read (rule-loyalty-read): Loyalty is read as the shop's programme and the client's card; one never used is zeros.", async (shop) => {
    const program = { name: "Ten", stamps_required: 10, stamps_per_ticket: 2, reward_label: "A free hem" }
    await shop.program(program)
    const client = await shop.known()
    const card = { balance: 0, lifetime: 0, rewards_available: 0, rewards_redeemed: 0, updated_at: null }
    const answer = await shop.get(`/clients/${client.id}/loyalty`)
    answer.shows({ program: { active: true, ...program }, card })
    ;(await shop.lookUp(client.phone)).shows({ loyalty: card })
  }),
  test("loyalty-off-read (rule-loyalty-read-2): While the programme is off it can be read, and the client shows no card.", async (shop) => {
    await shop.program()
    const client = await shop.known()
    ;(await shop.stamps(client, 3)).ok()
    await shop.program({ active: false })
    ;(await shop.get(`/clients/${client.id}/loyalty`)).shows({ program: { active: false }, card: { balance: 3 } })
    ;(await shop.lookUp(client.phone)).shows({ loyalty: null })
  }),
  test("loyalty-off-refuses (rule-loyalty-off-refuses): While the programme is off stamps and rewards are a CONFLICT whose reason is LOYALTY_OFF.", async (shop) => {
    await shop.program({ active: false })
    const client = await shop.known()
    ;(await shop.stamps(client, 1)).conflict("LOYALTY_OFF")
    ;(await shop.redeem(client)).conflict("LOYALTY_OFF")
  }),
  test("stamps (rule-loyalty-read): Stamps answer the card, how many were added and how many rewards that unlocked.", async (shop) => {
    await shop.program({ stamps_required: 4 })
    const client = await shop.known()
    const updated_at = await shop.env.instant()
    const none = { rewards_available: 0, rewards_redeemed: 0, updated_at }
    ;(await shop.stamps<Stamped>(client, 3)).shows({
      card: { balance: 3, lifetime: 3, ...none },
      added: 3,
      rewards_unlocked: 0
    })
    ;(await shop.stamps<Stamped>(client, 9)).shows({
      card: { balance: 12, lifetime: 12, rewards_available: 3 },
      added: 9,
      rewards_unlocked: 3
    })
  }),
  test("stamps-count (rule-stamps-2): Stamps are added 1 to 10 at a time.", async (shop) => {
    await shop.program()
    const client = await shop.known()
    for (const count of [0, 11, -1, 1.5, "3", null, undefined]) (await shop.stamps(client, count)).invalid("body count")
    for (const count of [1, 10]) (await shop.stamps(client, count)).shows({ added: count })
  }),
  test("stamps-key-required (rule-idempotency-required): Stamps and rewards need an Idempotency-Key.", async (shop) => {
    await shop.program()
    const client = await shop.known()
    ;(await shop.stamps(client, 1, { once: undefined })).invalid("header Idempotency-Key")
    ;(await shop.redeem(client, { once: undefined })).invalid("header Idempotency-Key")
  }),
  test("redeem (rule-loyalty-read): A redeem spends the stamps of one reward and tells which; what was ever collected stays.", async (shop) => {
    await shop.program({ stamps_required: 5, reward_label: "A free hem" })
    const client = await shop.known()
    ;(await shop.stamps(client, 10)).ok()
    await shop.env.advance(1)
    const redeemed_at = await shop.env.instant()
    ;(await shop.redeem<{ card: Card }>(client)).shows({
      card: { balance: 5, lifetime: 10, rewards_available: 1, rewards_redeemed: 1, updated_at: redeemed_at },
      reward: { label: "A free hem", redeemed_at }
    })
  }),
  test("redeem-nothing (rule-redeem): With no reward on the card a redeem is refused with NO_REWARD, and nothing is spent.", async (shop) => {
    await shop.program({ stamps_required: 5 })
    const client = await shop.known()
    ;(await shop.stamps(client, 4)).ok()
    ;(await shop.redeem(client)).conflict("NO_REWARD")
    ;(await shop.lookUp(client.phone)).shows({ loyalty: { balance: 4, rewards_redeemed: 0 } })
  }),
  test("redeem-body (rule-redeem): A redeem takes no body or an empty one; a field in it is refused.", async (shop) => {
    await shop.program({ stamps_required: 1 })
    const client = await shop.known()
    ;(await shop.stamps(client, 2)).ok()
    const path = `/clients/${client.id}/loyalty/redeem`
    ;(await shop.post(path, {}, { once: shop.env.fresh("redeem") })).ok()
    ;(await shop.post(path, { count: 1 }, { once: shop.env.fresh("redeem") })).invalid("body count")
    ;(await shop.redeem(client)).ok()
  }),
  test("loyalty-card-by-shop (rule-loyalty-read-2): A client has a card of their own with each shop.", async (shop) => {
    await shop.program()
    const other = await (await shop.env.openShop()).program()
    const client = await shop.known()
    await other.visit(client)
    ;(await shop.stamps(client, 2)).ok()
    expectSame((await other.lookUp(client.phone)).ok().loyalty?.balance, 0, "the balance at the other shop")
  })
])
