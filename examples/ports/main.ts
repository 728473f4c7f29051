import * as Workshop from "@workshop/core/services/PromiseWorkshop"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { byMail, byPush, byWhatsApp, firstOf, ownerByMail, type Post } from "./notifiers.js"
import { throughGateway } from "./outbox.js"
import { entropyFrom, shifted } from "./timeAndChance.js"
import { wordsBy } from "./words.js"

// Stands in for the providers: prints what each would get.
const post: Post = async (url, body) => console.log(url, JSON.stringify(body))

const workshop = await Workshop.start({
  store: MemoryStore.layer,
  sender: throughGateway(async ({ url }) => console.log("to the gateway, for", url)),
  clientNotifier: firstOf(async () => ({ mail: "amira@example.com" }), {
    mail: byMail(post, "https://mail.example/send"),
    pushToken: byPush(post, "https://push.example/send"),
    whatsapp: byWhatsApp(post, "https://whatsapp.example/messages")
  }),
  ownerNotifier: ownerByMail(post, "https://mail.example/send", async () => "owner@example.com"),
  profanity: wordsBy(async (text) => text.match(/zut/gi) ?? []),
  entropy: entropyFrom((bytes) => crypto.getRandomValues(bytes)),
  clock: shifted(0),
  background: false
})

const shop = await workshop.shops.create({
  name: "Atelier Lac",
  currency: "EUR",
  decimals: 2,
  time_zone: "Europe/Paris"
})
const client = await workshop.clients.register({ given_name: "Amira", family_name: "Baccar", phone: "+21620123456" })
if (!shop.ok || !client.ok) throw new Error("refused")
const caller_id = "0198c5f1-0d20-7000-8a4f-2be6c90d1357"
const caller = { shop_id: shop.value.id, caller_id, scopes: [], via: "app" } as const
await workshop.clients.visit(client.value.id, shop.value.id)
const made = await workshop.tickets.createInApp(caller, { service: "Hem", client_id: client.value.id })
if (!made.ok) throw new Error("refused")
await workshop.tickets.changeStatus(caller, made.value.data.id, "ready")
await workshop.messenger.runOnce()
await workshop.stop()
