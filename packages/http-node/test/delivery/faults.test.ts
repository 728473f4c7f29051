import { expect, it } from "vitest"
import { type Json, Service } from "./Service.js"
import { respondsWith, WebhookReceiver } from "./WebhookReceiver.js"

it("the fault lose_answer closes the connection after the request was executed, and a retry with the same key gets the response", async () => {
  await using service = await Service.open()
  await using receiver = await WebhookReceiver.open()
  const shop = await service.shop(receiver)
  await service.good("PUT", "/sandbox/faults", { faults: [{ method: "POST", fault: "lose_answer", next: 1 }] })
  const headers = { authorization: `Bearer ${shop.key}`, "idempotency-key": "till 7" }
  await expect(service.ask("POST", "/v1/tickets", { service: "Hem" }, headers)).rejects.toThrow("fetch failed")
  const replay = await service.ask("POST", "/v1/tickets", { service: "Hem" }, headers)
  expect([replay.status, replay.meta]).toEqual([200, { replayed: true }])
})

it("the sandbox's stream reports delivery attempts over a socket, and ends when the server stops", {
  timeout: 30_000
}, async () => {
  const service = await Service.open()
  await using receiver = await WebhookReceiver.open(respondsWith(500))
  const shop = await service.shop(receiver)
  const response = await service.stream()
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = (await reader.read()).value ?? ""
  expect(text).toContain("event: hello")
  await shop.api("POST", "/tickets", { service: "Hem" })
  await service.settle()
  while (!text.includes("event: attempt")) text += (await reader.read()).value ?? ""
  const attempt: Json = JSON.parse(/^event: attempt\ndata: (.*)$/m.exec(text)![1]!)
  expect(attempt).toMatchObject({ shop_id: shop.id, n: 1, status: 500 })
  await service[Symbol.asyncDispose]()
  while (!(await reader.read()).done) {}
})
