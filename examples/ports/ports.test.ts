import * as Workshop from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { afterEach, expect, it } from "vitest"
import { takeAndFinish } from "./counter.js"
import { throughGateway } from "./gateway.js"
import { byMail, byPush, byWhatsApp, type Contact, firstOf } from "./notifiers.js"
import { bytesFrom, shifted } from "./timeAndChance.js"
import { wordsBy } from "./words.js"

const caller_id = "0198c5f1-0d20-7000-8a4f-2be6c90d1357"
let workshop: Workshop.PromiseWorkshop
afterEach(() => workshop.stop())

const opened = async (options: Partial<Workshop.PromiseOptions>) => {
  workshop = await Workshop.start({ store: MemoryStore.layer, background: false, ...options })
  const shop = await workshop.shops.create({ name: "Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  if (!shop.ok) throw shop.refusal
  return { shop_id: shop.value.id, caller_id, scopes: [], via: "app" } as const
}

const sentTo = async (contact: Contact) => {
  const posts: Array<readonly [string, unknown]> = []
  const post = async (url: string, body: unknown) => void posts.push([url, body])
  const caller = await opened({
    notifyClient: firstOf(async () => contact, {
      mail: byMail(post, "mail"),
      pushToken: byPush(post, "push"),
      whatsapp: byWhatsApp(post, "whatsapp")
    })
  })
  const client = await workshop.clients.register({ given_name: "Amira", family_name: "B", phone: "+21620123456" })
  if (!client.ok) throw client.refusal
  expect(await workshop.clients.visit({ client_id: client.value.id, shop_id: caller.shop_id })).toMatchObject({
    ok: true
  })
  const created = await workshop.tickets.createInApp(caller, { service: "Hem", client_id: client.value.id })
  if (!created.ok) throw created.refusal
  expect(await workshop.tickets.changeStatus(caller, created.value.data.id, "ready")).toMatchObject({ ok: true })
  expect(await workshop.notificationSender.runOnce()).toMatchObject({ ok: true })
  return posts
}

it("a client is notified by the first channel that reaches them: push, WhatsApp, mail (Specification, States)", async () => {
  expect(await sentTo({ mail: "a@example.com" })).toEqual([
    ["mail", { to: "a@example.com", subject: "Ticket 0001", text: "Hem is ready for you." }]
  ])
  await workshop.stop()
  expect(await sentTo({ mail: "a@example.com", whatsapp: "21620123456" })).toMatchObject([
    ["whatsapp", { to: "21620123456", type: "template" }]
  ])
  await workshop.stop()
  expect(await sentTo({ whatsapp: "21620123456", pushToken: "t" })).toMatchObject([["push", { token: "t" }]])
  await workshop.stop()
  expect(await sentTo({})).toEqual([])
})

it("a refused call rejects with its refusal (Specification, Errors)", async () => {
  await opened({ profanity: wordsBy(async (text) => (text === "zut" ? [text] : [])) })
  const phone = "+21620123456"
  await expect(takeAndFinish(workshop, { service: "zut", phone })).rejects.toMatchObject({ _tag: "ForbiddenWord" })
  await expect(takeAndFinish(workshop, { service: "Hem", phone })).rejects.toMatchObject({ _tag: "InvalidInput" })
  await expect(takeAndFinish(workshop, { service: "Hem", phone: "+21620123457" })).resolves.toBeUndefined()
})

it("the embedder's filter decides which words are forbidden, and texts are accepted while it is unavailable (Specification, Errors)", async () => {
  const caller = await opened({
    profanity: wordsBy(async (text) => {
      if (text === "down") throw new Error("away")
      return text === "zut" ? [text] : []
    })
  })
  expect(await workshop.tickets.createInApp(caller, { service: "Hem", item: "zut" })).toMatchObject({
    ok: false,
    refusal: { _tag: "ForbiddenWord", field: "item" }
  })
  expect(await workshop.tickets.createInApp(caller, { service: "down" })).toMatchObject({ ok: true })
})

it("webhooks are sent through a gateway, and the service retries a request that the gateway refuses (Specification, Webhooks)", async () => {
  const taken: Array<string> = []
  let isOpen = false
  const caller = await opened({
    send: throughGateway(async ({ headers, url }) => {
      if (!isOpen) throw new Error("closed")
      taken.push(`${url} ${Object.keys(headers)}`)
    })
  })
  await workshop.webhooks.set(caller.shop_id, "https://erp.example/hook")
  await workshop.webhooks.ping(caller.shop_id)
  await workshop.dispatcher.runOnce()
  expect(await workshop.deliveries.list(caller.shop_id)).toMatchObject({
    value: [{ state: "pending", attempts: [{ n: 1, error: "connect" }] }]
  })
  isOpen = true
  await workshop.webhooks.ping(caller.shop_id)
  await workshop.dispatcher.runOnce()
  expect(taken).toEqual(["https://erp.example/hook content-type,Service-Signature"])
})

it("time and ids come from the sources that the embedder passes (Specification, Tickets)", async () => {
  let next = 0
  await opened({ now: shifted(3_600_000), randomBytes: bytesFrom((bytes) => bytes.fill(next++)) })
  const client = await workshop.clients.register({ given_name: "A", family_name: "B", phone: "+21620123456" })
  if (!client.ok) throw client.refusal
  const milliseconds = Number.parseInt(client.value.id.replaceAll("-", "").slice(0, 12), 16)
  expect(milliseconds).toBeGreaterThan(Date.now() + 3_500_000)
  expect(client.value.id.slice(-12)).toMatch(/^(..)\1{5}$/)
})
