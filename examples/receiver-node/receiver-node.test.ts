import type { AddressInfo } from "node:net"
import { parseWebhookAddress, sandboxAddresses, Webhooks } from "@workshop/core"
import * as Workshop from "@workshop/core/promise"
import * as NodeSender from "@workshop/http-node/sender"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Runtime } from "effect"
import { expect, it } from "vitest"
import { createReceiver } from "./receiver.js"

it("a receiver in Node processes each event of the service once, and refuses other requests (Specification, Webhooks)", async () => {
  const workshop = await Workshop.start({
    store: MemoryStore.layer,
    sender: NodeSender.layer({ policy: sandboxAddresses }),
    background: false
  })
  const shop = await workshop.shops.create({ name: "Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  if (!shop.ok) throw shop.refusal
  const { id: shop_id } = shop.value

  const worked: Array<string> = []
  // Only a sandbox accepts an address of this machine, so the test sets it without the Promise API.
  const pointAt = (url: string) =>
    Runtime.runPromise(workshop.runtime)(
      Effect.flatMap(parseWebhookAddress(url, sandboxAddresses), (address) =>
        Effect.flatMap(Webhooks, ({ set }) => set(shop_id, address))
      )
    )
  // Setting the first address creates the secret, which the receiver needs before it listens.
  const { secret } = await pointAt("http://127.0.0.1:9")
  const server = createReceiver(secret, ({ type }) => worked.push(type)).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await pointAt(url)

  await workshop.webhooks.ping(shop_id)
  const events = await workshop.webhooks.events(shop_id)
  const [event] = events.ok ? events.value : []
  if (event === undefined) throw new Error("There is no event")
  expect(await workshop.dispatcher.runOnce()).toEqual({ ok: true, value: 1 })
  await workshop.deliveries.replay(shop_id, { event_ids: [event.id] })
  await workshop.dispatcher.runOnce()
  expect(worked).toEqual(["ping"])
  expect((await fetch(url, { method: "POST", body: '{"id":"forged"}' })).status).toBe(400)

  server.closeAllConnections()
  server.close()
  await workshop.stop()
})
