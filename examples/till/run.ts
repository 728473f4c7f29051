import { type ClientFailure, type ClientOptions, createClient } from "@workshop/client"
import { openDisk } from "./DiskFile.js"
import { sync, take } from "./Till.js"

/** The output of the till. */
type Screen = Pick<Console, "log" | "error">

const unsent = ({ code, message }: ClientFailure, baseUrl: string): string =>
  code === "UNAUTHENTICATED"
    ? `${baseUrl} does not know this WORKSHOP_KEY: \`npm start\` prints one, \`workshop key create\` makes another. The sale is kept.`
    : `${message}. The sale is kept, and goes out next time.`

/**
 * Saves a sale, syncs, and prints the shop's tickets. Returns the exit status: 1 if the sync failed, with the reason
 * printed.
 */
export const run = async (
  environment: Readonly<Record<string, string | undefined>>,
  screen: Screen,
  options: Pick<ClientOptions, "fetch" | "wait"> = {}
): Promise<0 | 1> => {
  const refuse = (sentence: string): 1 => {
    screen.error(sentence)
    return 1
  }
  const { WORKSHOP_URL: baseUrl = "http://127.0.0.1:4010", WORKSHOP_KEY: key } = environment
  const { WORKSHOP_TILL: path = ".workshop/till.json" } = environment
  if (!key) {
    return refuse("Set WORKSHOP_KEY to a key of the shop; `npm start` prints one, and serves where this looks for it.")
  }

  const client = createClient({ baseUrl, key, ...options })
  const disk = openDisk(path)
  const shop = await client.shop.read()
  if (shop.ok) disk.shop_id ??= shop.value.id
  if (shop.ok && disk.shop_id !== shop.value.id) {
    return refuse(`${path} keeps another shop's tickets: name another file with WORKSHOP_TILL, or remove it.`)
  }

  take(disk, { service: "Resoling", price_minor: 45_000 })
  if (!shop.ok) return refuse(unsent(shop.error, baseUrl))
  const { refused, changes, problem } = await sync(client, disk)
  if (problem !== null) return refuse(unsent(problem, baseUrl))
  const { size } = disk.outbox
  screen.log(`${changes} changes since last time; ${refused.length} sales refused, ${size} waiting; all is in ${path}.`)
  for (const { number_label, service, state } of disk.tickets.values()) screen.log(number_label, state, service)
  return 0
}
