import type { PromiseWorkshop, Result } from "@workshop/core/promise"

/** Returns the value of a call, or throws its refusal, because a refusal is a value that a caller could overlook. */
const done = async <A, E>(call: Promise<Result<A, E>>): Promise<A> => {
  const result = await call
  if (!result.ok) throw result.refusal
  return result.value
}

/** Creates a shop and a client's ticket, and makes the ticket ready, so that the client is notified. */
export const takeAndFinish = async (
  workshop: PromiseWorkshop,
  { service, phone }: { readonly service: string; readonly phone: string }
): Promise<void> => {
  const settings = { name: "Atelier Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" }
  const shop = await done(workshop.shops.create(settings))
  const client = await done(workshop.clients.register({ given_name: "Amira", family_name: "Baccar", phone }))
  const caller_id = "0198c5f1-0d20-7000-8a4f-2be6c90d1357"
  const caller = { shop_id: shop.id, caller_id, scopes: [], via: "app" } as const
  await done(workshop.clients.visit({ client_id: client.id, shop_id: shop.id }))
  const { data } = await done(workshop.tickets.createInApp(caller, { service, client_id: client.id }))
  await done(workshop.tickets.changeStatus(caller, data.id, "ready"))
  await done(workshop.notificationSender.runOnce())
}
