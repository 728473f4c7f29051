import { eventTypes } from "@workshop/core"
import Stripe from "stripe"
import { describe, expect, it } from "vitest"
import { DAY, type Json, Service } from "../delivery/Service.js"
import { WebhookReceiver } from "../delivery/WebhookReceiver.js"

// Stripe's library verifies our webhooks, because both use the same signature scheme.
const { webhooks } = new Stripe("sk_test_nothing_is_sent")

describe("a public verifier as the receiver of webhooks (Specification, Webhooks)", () => {
  it("Stripe's library accepts the signature of every type of event, and refuses it with another secret", async () => {
    await using service = await Service.open()
    await using receiver = await WebhookReceiver.open()
    const shop = await service.shop(receiver)
    const judged: Array<readonly [type: string, accepted: boolean, underAnother: boolean]> = []
    receiver.responder = (response, { body, signature, event }) => {
      const accepts = (secret: string) => {
        try {
          return webhooks.signature!.verifyHeader(body, signature, secret, 300, undefined, service.now.getTime())
        } catch {
          return false
        }
      }
      judged.push([event.type, accepts(shop.secret), accepts("whsec_another")])
      response.writeHead(204).end()
    }
    const person = { given_name: "Zoë", family_name: "Ben Salah", phone: "+21620123457" }
    const client = await service.good("POST", "/sandbox/clients", person)
    const { id } = await shop.api("POST", "/tickets", { service: "Ourlet 👞", client_phone: person.phone })
    const [offer]: Array<Json> = await service.good("GET", `/sandbox/clients/${client.id}/offers`)
    await service.good("POST", `/sandbox/offers/${offer.id}/accept`)
    for (const answer of ["refuse", "accept"]) {
      await service.good("POST", `/sandbox/tickets/${id}/quote`, { price_minor: 12_000 })
      await service.good("POST", `/sandbox/tickets/${id}/quote/${answer}`)
    }
    await service.good("PATCH", `/sandbox/tickets/${id}`, { item: "Rideau" })
    for (const status of ["impossible", "collected", "workshop", "ready"])
      await shop.api("POST", `/tickets/${id}/status`, { status })
    await service.move({ advance_ms: 60 * DAY })
    await shop.ping()
    await service.settle()
    expect([...new Set(judged.map(([type]) => type))].sort()).toEqual(Object.keys(eventTypes).sort())
    expect(judged).toEqual(judged.map(([type]) => [type, true, false]))
  })
})
