import { DAY, MINUTE } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectShape, expectSigned, expectThat, signatureOf } from "../Expectations.js"

/** How deliveries are signed (Specification, Webhooks). */
export const signatureCases = casesOf("§6", [
  test("signature (rule-signature): A delivery is signed over its time, a dot and its raw body, with the whole secret.", async (shop) => {
    const inbox = shop.env.inbox()
    const secret = await shop.sendTo(inbox)
    await shop.ticket({ item: "Größe 42 – 🧵" })
    await shop.env.settle()
    expectSame(inbox.posts.length, 1, "the number of deliveries")
    expectSigned(inbox.posts[0], [secret], await shop.env.instant())
  }),
  test("signature-each-attempt (rule-event-frozen): Each attempt signs the same bytes afresh: a new time, the same event.", async (shop) => {
    const inbox = shop.env.inbox()
    inbox.answer(500)
    const secret = await shop.sendTo(inbox)
    await shop.ticket()
    await shop.env.settle()
    await shop.env.advance(MINUTE)
    const [first, second] = inbox.posts
    expectSame(inbox.posts.length, 2, "the number of attempts")
    expectSame(second?.body, first?.body, "the body of the second attempt")
    expectSigned(second, [secret], await shop.env.instant())
    expectSame(signatureOf(second).t - signatureOf(first).t, 60, "the seconds between both t")
  }),
  test("secret-format (rule-secret-format): A secret is whsec_ and 43 characters, shown when it is set.", async (shop) => {
    expectShape(await shop.sendTo(shop.env.inbox()), /^whsec_[A-Za-z0-9_-]{43}$/, "the secret")
  }),
  test("secret-kept (rule-secret-format): A new address keeps the secret; only a rotation changes it.", async (shop) => {
    const secret = await shop.sendTo(shop.env.inbox())
    const inbox = shop.env.inbox()
    expectSame(await shop.sendTo(inbox), secret, "the secret with the new address")
    await shop.ticket()
    await shop.env.settle()
    expectSigned(inbox.posts[0], [secret], await shop.env.instant())
    const rotated = await shop.env.act<{ secret: string }>("rotate secret", shop.id, {})
    expectThat(rotated.secret !== secret, "another secret after a rotation", "the same")
  }),
  test("secret-rotation (rule-signature): For 24 hours after a rotation a delivery bears two v1, of the new secret and of the old; then one.", async (shop) => {
    const inbox = shop.env.inbox()
    const old = await shop.sendTo(inbox)
    const { secret } = await shop.env.act<{ secret: string }>("rotate secret", shop.id, {})
    for (const [ms, secrets] of [
      [0, [secret, old]],
      [DAY - 1000, [secret, old]],
      [2000, [secret]]
    ] as const) {
      await shop.env.advance(ms)
      await shop.ticket()
      await shop.env.settle()
      expectSigned(inbox.posts.at(-1), secrets, await shop.env.instant())
    }
    expectSame(inbox.posts.length, 3, "the number of deliveries")
  }),
  test("delivery-request (rule-event-frozen): A delivery is a POST of the event as JSON, text for text what the shop's events show.", async (shop) => {
    const inbox = await shop.receiving()
    await shop.ticket()
    await shop.env.settle()
    expectShape(inbox.posts[0]?.headers["content-type"], /^application\/json/, "the header Content-Type")
    const received = inbox.posts.map(({ event }) => event)
    expectSame(received, await shop.events(), "what the receiver got")
  }),
  test("webhook-address (rule-webhook-address): An address that could never be called is a 400: not https, private, or with credentials.", async (shop) => {
    const urls = [
      "http://shop.example.com/hook",
      "ftp://shop.example.com/hook",
      "https://10.0.0.1/hook",
      "https://192.168.1.1/hook",
      "https://169.254.169.254/latest",
      "https://[fd00::1]/hook",
      "https://[::ffff:10.0.0.1]/hook",
      "https://me:secret@shop.example.com/hook",
      "https://shop.example.com:8443/hook",
      "no address"
    ]
    for (const url of urls) (await shop.env.sandbox("set webhook", shop.id, { url })).invalid("body url")
  })
])
