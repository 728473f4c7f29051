import { expectSame, expectShape, expectThat } from "../Broken.js"
import { casesOf } from "../Case.js"
import { receiving } from "../receiving.js"
import { expectSigned, signatureOf } from "../signature.js"
import { DAY, MINUTE } from "../World.js"

/** How deliveries are signed (Specification, Webhooks). */
export const signatureCases = casesOf("§6", [
  {
    id: "signature",
    rule: "A delivery is signed over its time, a dot and its raw body, with the whole secret.",
    anchor: "rule-signature",
    run: async (world) => {
      const shop = await world.shop()
      const inbox = world.inbox()
      const secret = await shop.sendTo(inbox)
      await shop.ticket({ item: "Größe 42 – 🧵" })
      await world.settle()
      expectSame(inbox.posts.length, 1, "the number of deliveries")
      expectSigned(inbox.posts[0], [secret], await world.instant())
    }
  },
  {
    id: "signature-each-attempt",
    rule: "Each attempt signs the same bytes afresh: a new time, the same event.",
    anchor: "rule-event-frozen",
    run: async (world) => {
      const shop = await world.shop()
      const inbox = world.inbox()
      inbox.answer({ status: 500 })
      const secret = await shop.sendTo(inbox)
      await shop.ticket()
      await world.settle()
      await world.advance(MINUTE)
      const [first, second] = inbox.posts
      expectSame(inbox.posts.length, 2, "the number of attempts")
      expectSame(second?.body, first?.body, "the body of the second attempt")
      expectSigned(second, [secret], await world.instant())
      expectSame(signatureOf(second).t - signatureOf(first).t, 60, "the seconds between both t")
    }
  },
  {
    id: "secret-format",
    rule: "A secret is whsec_ and 43 characters, shown when it is set.",
    anchor: "rule-secret-format",
    run: async (world) => {
      const shop = await world.shop()
      expectShape(await shop.sendTo(world.inbox()), /^whsec_[A-Za-z0-9_-]{43}$/, "the secret")
    }
  },
  {
    id: "secret-kept",
    rule: "A new address keeps the secret; only a rotation changes it.",
    anchor: "rule-secret-format",
    run: async (world) => {
      const shop = await world.shop()
      const secret = await shop.sendTo(world.inbox())
      const inbox = world.inbox()
      expectSame(await shop.sendTo(inbox), secret, "the secret with the new address")
      await shop.ticket()
      await world.settle()
      expectSigned(inbox.posts[0], [secret], await world.instant())
      const rotated = await world.act<{ secret: string }>("POST", `/shops/${shop.id}/webhook/rotate`, {})
      expectThat(rotated.secret !== secret, "another secret after a rotation", "the same")
    }
  },
  {
    id: "secret-rotation",
    rule: "For 24 hours after a rotation a delivery bears two v1, of the new secret and of the old; then one.",
    anchor: "rule-signature",
    run: async (world) => {
      const shop = await world.shop()
      const inbox = world.inbox()
      const old = await shop.sendTo(inbox)
      const { secret } = await world.act<{ secret: string }>("POST", `/shops/${shop.id}/webhook/rotate`, {})
      for (const [ms, secrets] of [
        [0, [secret, old]],
        [DAY - 1000, [secret, old]],
        [2000, [secret]]
      ] as const) {
        await world.advance(ms)
        await shop.ticket()
        await world.settle()
        expectSigned(inbox.posts.at(-1), secrets, await world.instant())
      }
      expectSame(inbox.posts.length, 3, "the number of deliveries")
    }
  },
  {
    id: "delivery-request",
    rule: "A delivery is a POST of the event as JSON, text for text what the shop's events show.",
    anchor: "rule-event-frozen",
    run: async (world) => {
      const { shop, inbox } = await receiving(world)
      await shop.ticket()
      await world.settle()
      expectShape(inbox.posts[0]?.headers["content-type"], /^application\/json/, "the header Content-Type")
      expectSame(
        inbox.posts.map(({ event }) => event),
        await shop.events(),
        "what the receiver got"
      )
    }
  },
  {
    id: "webhook-address",
    rule: "An address that could never be called is a 400: not https, private, or with credentials.",
    anchor: "rule-webhook-address",
    run: async (world) => {
      const shop = await world.shop()
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
      for (const url of urls) (await world.sandbox("PUT", `/shops/${shop.id}/webhook`, { url })).invalid("body url")
    }
  }
])
