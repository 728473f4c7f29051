import { createHmac } from "node:crypto"
import { expect, it } from "vitest"
import worker, { type WebhookEvent } from "./worker.js"

const SECRET = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

const delivery = (body: string, secret: string) => {
  const t = Math.floor(Date.now() / 1000)
  const v1 = createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")
  return new Request("https://worker.example/", {
    method: "POST",
    headers: { "service-signature": `t=${t},v1=${v1}` },
    body
  })
}

it("a worker processes a signed event once, and refuses an unsigned request (Specification, Webhooks)", async () => {
  const queued: Array<WebhookEvent> = []
  const seen = new Map<string, string>()
  const env = {
    WEBHOOK_SECRET: SECRET,
    WORK: { send: async (event: WebhookEvent) => void queued.push(event) },
    SEEN: {
      get: async (id: string) => seen.get(id) ?? null,
      put: async (id: string, value: string) => void seen.set(id, value)
    }
  }
  const body = '{"id":"e1","type":"ticket.ready","data":{}}'
  expect((await worker.fetch(delivery(body, SECRET), env)).status).toBe(204)
  expect((await worker.fetch(delivery(body, SECRET), env)).status).toBe(204)
  expect((await worker.fetch(delivery(body, "whsec_other"), env)).status).toBe(400)
  expect((await worker.fetch(new Request("https://worker.example/"), env)).status).toBe(404)
  expect(queued.map(({ id, type }) => `${id} ${type}`)).toEqual(["e1 ticket.ready"])
})
