import { SqlClient } from "@effect/sql"
import {
  InvalidInput,
  parseWebhookAddress,
  type ShopId,
  ShopInput,
  Shops,
  WebhookPolicy,
  Webhooks
} from "@workshop/core"
import { Config, Effect, Schema } from "effect"

/** Sets the URL of a shop's webhook, and returns the secret of its signatures, which is the same in each call. */
export const sendTo = (shop_id: ShopId, url: string) =>
  Effect.gen(function* () {
    const address = yield* Effect.mapError(
      parseWebhookAddress(url, yield* WebhookPolicy),
      (message) => new InvalidInput({ issues: [{ field: "url", message }] })
    )
    return yield* Webhooks.set(shop_id, address)
  })

/** The shop of the program, and the secret of its webhook. The layer creates both, and the table of orders. */
export class MyShop extends Effect.Service<MyShop>()("MyShop", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`create table if not exists orders (
      id text primary key, customer text not null, ticket_id uuid not null unique,
      state text not null default 'workshop', last_event text not null default ''
    )`
    const settings = { name: "Atelier Lac", currency: "EUR", time_zone: "Europe/Paris" }
    const { id } = yield* Shops.firstOrCreate(Schema.decodeSync(ShopInput)(settings))
    const { secret } = yield* sendTo(id, yield* Config.string("HOOK_URL"))
    return { id, secret }
  })
}) {}
