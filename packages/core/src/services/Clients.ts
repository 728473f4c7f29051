import { Effect, Schema } from "effect"
import { recordVisit } from "../decisions/meetClient.js"
import { ClientNotFound, type ClientView } from "../domain/Client.js"
import type { ClientId, ShopId } from "../domain/Identifier.js"
import { InvalidInput } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import { cardView } from "../domain/LoyaltyCard.js"
import { ENTROPY_BYTES, identifier } from "../domain/Moment.js"
import { optional } from "../domain/Optional.js"
import { Phone } from "../domain/Phone.js"
import { Text } from "../domain/Text.js"
import { Directory } from "../ports/Directory.js"
import { Entropy } from "../ports/Entropy.js"
import { type CountedClient, Reads } from "../ports/Reads.js"
import { Store } from "../ports/Store.js"
import type { Caller } from "./Caller.js"
import { Shops } from "./Shops.js"

/** Who opens an account. */
export const ClientInput = Schema.Struct({
  given_name: Text(Limits.name_characters),
  family_name: Text(Limits.name_characters),
  phone: Phone,
  hide_name: optional(Schema.Boolean)
})
  .pipe(Schema.brand("ClientInput"))
  .annotations({ identifier: "ClientInput" })
export type ClientInput = typeof ClientInput.Type

const clientView = ({ client, card, shop, tickets_open, tickets_total }: CountedClient): ClientView => ({
  id: client.id,
  display_name: client.display_name,
  tickets_open,
  tickets_total,
  loyalty: shop.program.active ? cardView(card, shop.program) : null
})

const phoneTaken = new InvalidInput({ issues: [{ field: "phone", message: "belongs to another account" }] })

/** Clients: their accounts, and what a shop that knows them may see (spec §2, contract §6). */
export class Clients extends Effect.Service<Clients>()("@workshop/core/Clients", {
  accessors: true,
  effect: Effect.gen(function* () {
    const store = yield* Store
    const reads = yield* Reads
    const shops = yield* Shops
    const directory = yield* Directory
    const entropy = yield* Entropy

    const found = (client: CountedClient | null) =>
      client === null ? Effect.fail(new ClientNotFound()) : Effect.succeed(clientView(client))

    const account = (id: ClientId) =>
      Effect.flatMap(directory.account(id), (account) =>
        account === null ? Effect.fail(new ClientNotFound()) : Effect.succeed(account)
      )

    return {
      /** A client of the shop; unknown and blocking are the same refusal. */
      byId: ({ shop_id }: Caller, id: ClientId) => Effect.flatMap(reads.client(shop_id, { id }), found),
      /** The client of the shop who holds a number; unknown and blocking are the same refusal. */
      byPhone: ({ shop_id }: Caller, phone: Phone) => Effect.flatMap(reads.client(shop_id, { phone }), found),

      /** Opens a client's account. */
      register: Effect.fnUntraced(function* (input: ClientInput) {
        const { given_name, family_name, phone } = input
        const hide_name = input.hide_name ?? false
        const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const id = identifier<ClientId>({ now, entropy: entropy.bytes(ENTROPY_BYTES) }, 0)
        const opened = yield* directory.createClient({ id, given_name, family_name, phone, hide_name, created_at: now })
        return opened ? { id } : yield* phoneTaken
      }),
      /** The client comes to the shop's counter; from then on the shop knows them. */
      visit: (id: ClientId, shop_id: ShopId) =>
        Effect.zipRight(shops.byId(shop_id), Effect.asVoid(store.transact(recordVisit(shop_id, id)))),
      /** What the client was told in the app, oldest first. */
      inbox: (id: ClientId) => Effect.zipRight(account(id), directory.inbox(id))
    }
  })
}) {}
