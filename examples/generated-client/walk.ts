import { Api } from "./generated/WorkshopApi.js"

/** Makes the client that a public generator wrote from `openapi.json`, with the shop's key. */
export const createApi = (baseUrl: string, key: string, customFetch: typeof fetch = fetch) =>
  new Api({ baseUrl, customFetch, baseApiParams: { headers: { authorization: `Bearer ${key}` }, format: "json" } })

/** Creates and moves a ticket with generated calls. */
export const walk = async ({ v1 }: ReturnType<typeof createApi>): Promise<ReadonlyArray<string>> => {
  const shop = await v1.getShop()
  const once = { headers: { "Idempotency-Key": crypto.randomUUID() } }
  const made = await v1.createTicket({ service: "Resoling", price_minor: 45_000 }, once)
  const { id } = made.data.data
  const ready = await v1.changeTicketStatus(id, { status: "ready" })
  // The generated code repeats the parameter's name for each value, which the API reads like a comma-separated list.
  const waiting = await v1.listTickets({ state: ["ready", "impossible"], limit: 10 })
  return [
    `${shop.data.data.name}: ticket ${made.data.data.number_label} is ${ready.data.data.state}`,
    `${waiting.data.data.length} to be picked up`
  ]
}
