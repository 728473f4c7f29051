import * as Workshop from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { takeAndFinish } from "./counter.js"
import { throughGateway } from "./gateway.js"
import { byMail, byPush, byWhatsApp, firstOf, ownerByMail, type Post } from "./notifiers.js"
import { bytesFrom, shifted } from "./timeAndChance.js"
import { wordsBy } from "./words.js"

// This replaces the providers, and prints the requests that they would get.
const post: Post = async (url, body) => console.log(url, JSON.stringify(body))

const workshop = await Workshop.start({
  store: MemoryStore.layer,
  send: throughGateway(async ({ url }) => console.log("to the gateway, for", url)),
  notifyClient: firstOf(async () => ({ mail: "amira@example.com" }), {
    mail: byMail(post, "https://mail.example/send"),
    pushToken: byPush(post, "https://push.example/send"),
    whatsapp: byWhatsApp(post, "https://whatsapp.example/messages")
  }),
  notifyOwner: ownerByMail(post, "https://mail.example/send", async () => "owner@example.com"),
  profanity: wordsBy(async (text) => text.match(/zut/gi) ?? []),
  randomBytes: bytesFrom((bytes) => crypto.getRandomValues(bytes)),
  now: shifted(0),
  background: false
})

try {
  await takeAndFinish(workshop, { service: "Hem", phone: "+21620123456" })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await workshop.stop()
}
