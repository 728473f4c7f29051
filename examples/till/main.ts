import { createClient } from "@workshop/core/client/Client"
import { blankDisk, sync, take } from "./Till.js"

const { WORKSHOP_URL: baseUrl = "http://127.0.0.1:4010", WORKSHOP_KEY: key } = process.env
if (key === undefined) {
  console.error("Set WORKSHOP_KEY to a key of the shop; `npm start` prints one, and serves where this looks for it.")
  process.exitCode = 1
} else {
  const client = createClient({ baseUrl, key })
  const disk = blankDisk()
  take(disk, { service: "Resoling", price_minor: 45_000 })
  const { refused, changes, problem } = await sync(client, disk)
  console.log(problem ?? `${changes} changes since last time; ${refused.length} sales refused.`)
  for (const { number_label, service, state } of disk.tickets.values()) console.log(number_label, state, service)
}
