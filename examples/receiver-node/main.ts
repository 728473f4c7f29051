import { createReceiver } from "./receiver.js"

const secret = process.env.WEBHOOK_SECRET
if (secret === undefined || !secret.startsWith("whsec_")) {
  console.error("Set WEBHOOK_SECRET to the webhook's secret, whsec_…, which is shown when the webhook is set.")
  process.exitCode = 1
} else {
  const server = createReceiver(secret, ({ type, id }) => console.log(`${type} ${id}`))
  server.listen(4024, "127.0.0.1", () => console.log("Listening for webhooks on http://127.0.0.1:4024"))
  process.once("SIGINT", () => server.close())
}
