import { UNKNOWN_ID } from "../../testkit/Ids.js"
import { addMs, DAY } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectShape, expectThat } from "../Expectations.js"

/** The sandbox itself (Specification, Sandbox). */
export const sandboxCases = casesOf("sandbox", [
  test("sandbox-clock-stands (rule-sandbox-clock-all): A frozen clock moves by exactly the requested time, and never by itself.", async (shop) => {
    const start = await shop.env.readInstant()
    expectSame(await shop.env.readInstant(), start, "the clock when read again")
    await shop.env.advance(1234)
    expectSame(await shop.env.readInstant(), addMs(start, 1234), "the clock after 1234 ms")
    ;(await shop.env.sandbox("read clock")).expectData({ frozen: true })
  }),
  test("sandbox-clock-set (rule-sandbox-clock-all): One request can set the clock to an instant and move it forward from there.", async (shop) => {
    const target = addMs(await shop.env.readInstant(), 5000)
    const moved = await shop.env.sandbox("move clock", "", { set: target, advance_ms: 10, freeze: true })
    moved.expectData({ now: addMs(target, 10), frozen: true })
  }),
  test("sandbox-clock-never-back (rule-sandbox-clock-all): The clock never goes back, and a refused request does not move it.", async (shop) => {
    const now = await shop.env.readInstant()
    ;(await shop.env.sandbox("move clock", "", { set: addMs(now, -1) })).expectInvalid("body set")
    ;(await shop.env.sandbox("move clock", "", { advance_ms: -1 })).expectInvalid("body advance_ms")
    expectSame(await shop.env.readInstant(), now, "the clock")
  }),
  test("sandbox-clock-serves-all (rule-sandbox-clock-all): Every action has the time of the sandbox's clock.", async (shop) => {
    await shop.env.advance(3 * DAY)
    const now = await shop.env.readInstant()
    ;(await shop.create()).expectData({ created_at: now, updated_at: now }, 201)
  }),
  test("sandbox-shop (rule-sandbox-shop): A new shop is approved and active, has the API on, and has a key with full access.", async (shop) => {
    const settings = { id: shop.id, approved: true, active: true, api_enabled: true }
    expectShape(await shop.env.callSandbox("change shop", shop.id, {}), settings, "the shop")
    ;(await shop.get("/shop")).expectOk()
  }),
  test("sandbox-unknown-field (rule-create-unknown-field): An unknown field of a sandbox request is refused, and the error names it.", async (shop) => {
    ;(await shop.env.sandbox("move clock", "", { advance: 1 })).expectInvalid("body advance")
  }),
  test("sandbox-nobody (rule-sandbox-nobody): Unknown shops, keys, clients and tickets are a 404.", async (shop) => {
    for (const call of ["list events", "revoke key", "get offers"] as const)
      (await shop.env.sandbox(call, UNKNOWN_ID)).expectRefusal(404, "NOT_FOUND")
    ;(await shop.env.sandbox("change shop", UNKNOWN_ID, {})).expectRefusal(404, "NOT_FOUND")
    ;(await shop.env.api("GET", "/sandbox/nothing-here")).expectRefusal(404, "NOT_FOUND")
    ;(await shop.env.sandbox("propose quote", UNKNOWN_ID, { price_minor: 1 })).expectRefusal(404, "NOT_FOUND")
  }),
  test("sandbox-no-webhook (rule-sandbox-no-webhook): A shop without a webhook shows no address, and nothing is sent.", async (shop) => {
    const response = await shop.env.sandbox<{ url: string | null }>("get webhook", shop.id)
    const isNone = response.status === 404 || (response.status === 200 && response.data.url === null)
    expectThat(isNone, "status 404, or url null", response.status, response.exchange)
    const inbox = shop.env.openInbox()
    await shop.setWebhookTo(inbox)
    const newWebhook = { url: inbox.url, on: true, off_reason: null, failures_in_row: 0, first_failure_at: null }
    expectShape(await shop.readWebhook(), newWebhook, "the webhook")
  }),
  test("sandbox-visit (rule-sandbox-visit): After a client visits the counter, the shop knows the client.", async (shop) => {
    const client = await shop.env.openAccount()
    ;(await shop.get(`/clients/${client.id}`)).expectRefusal(404, "NOT_FOUND")
    await shop.visit(client)
    ;(await shop.get(`/clients/${client.id}`)).expectData({ id: client.id })
  }),
  test("sandbox-app-ticket (rule-sandbox-app-ticket): A ticket can be created in the app without an Idempotency-Key.", async (shop) => {
    const response = await shop.createInApp({ service: "Hem", item: "Coat" })
    response.expectData({ number: 1, item: "Coat", created_via: "app", state: "workshop" }, 201)
    ;(await shop.createInApp({ service: "" })).expectInvalid("body service")
  })
])
