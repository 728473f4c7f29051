import { type Context, Effect, Schema } from "effect"
import { recordVisit } from "../decisions/clientLink.js"
import { type ClientAccount, ClientNotFound, type ClientView } from "../domain/Client.js"
import type { ClientId, ShopId } from "../domain/Identifier.js"
import { toIso } from "../domain/Instant.js"
import { InvalidInput } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import { cardView } from "../domain/LoyaltyCard.js"
import { ENTROPY_BYTES, makeIdentifier } from "../domain/Moment.js"
import { Phone } from "../domain/Phone.js"
import { ShopNotFound } from "../domain/Shop.js"
import { optional, refuseUnknownFields, Text } from "../domain/Text.js"
import { Entropy } from "../ports/Entropy.js"
import { type CountedClient, Directory, PersonalData, Reads, Store } from "../ports/StorePorts.js"
import { Audit } from "./Audit.js"
import type { Caller } from "./Caller.js"
import { type ClientExport, makeClientRecords, personOf } from "./ClientRecords.js"
import { Shops } from "./Shops.js"

/** The data of a new account. */
export const ClientInput = Schema.Struct({
  given_name: Text(Limits.name_characters),
  family_name: Text(Limits.name_characters),
  phone: Phone,
  hide_name: optional(Schema.Boolean)
})
  .pipe(Schema.brand("ClientInput"))
  .annotations({ identifier: "ClientInput", ...refuseUnknownFields })
/** A client account to open, whose fields {@link ClientInput} has checked. */
export type ClientInput = typeof ClientInput.Type

/** The corrections of an account. */
export const ClientCorrection = Schema.Struct({
  given_name: optional(ClientInput.from.fields.given_name),
  family_name: optional(ClientInput.from.fields.family_name),
  phone: optional(Phone),
  hide_name: optional(Schema.Boolean)
})
  .pipe(Schema.brand("ClientCorrection"))
  .annotations(refuseUnknownFields)
/** The fields of an account to correct, which {@link ClientCorrection} has checked. An absent or null field stays. */
export type ClientCorrection = typeof ClientCorrection.Type

const toClientView = ({ client, card, shop, tickets_open, tickets_total }: CountedClient): ClientView => ({
  id: client.id,
  display_name: client.display_name,
  tickets_open,
  tickets_total,
  loyalty: shop.program.active ? cardView(card, shop.program) : null
})

/** The refusal if a client was not found: `ShopNotFound` if the shop does not exist, else `ClientNotFound`. */
export const refuseMissingClient = (reads: Context.Tag.Service<Reads>, shop_id: ShopId) =>
  Effect.flatMap(reads.shop(shop_id), (shop) => Effect.fail(shop === null ? new ShopNotFound() : new ClientNotFound()))

const phoneTaken = new InvalidInput({
  issues: [
    { field: "phone", message: "belongs to another account. Give another number, or correct the other account first" }
  ]
})

/** Clients: their accounts, and the data of clients that a shop may see (Specification, Resources; Clients and loyalty). */
export class Clients extends Effect.Service<Clients>()("@workshop/core/Clients", {
  accessors: true,
  dependencies: [Audit.Default],
  effect: Effect.gen(function* () {
    const store = yield* Store
    const reads = yield* Reads
    const shops = yield* Shops
    const directory = yield* Directory
    const entropy = yield* Entropy
    const audit = yield* Audit
    const personal = yield* PersonalData
    const records = yield* makeClientRecords

    const findClient = (shop_id: ShopId, key: Parameters<typeof reads.client>[1]) =>
      Effect.flatMap(reads.client(shop_id, key), (client) =>
        client === null ? refuseMissingClient(reads, shop_id) : Effect.succeed(toClientView(client))
      )

    const findAccount = (id: ClientId) =>
      Effect.flatMap(directory.account(id), (account) =>
        account === null ? Effect.fail(new ClientNotFound()) : Effect.succeed(account)
      )

    return {
      /** A client of the shop. An unknown client and one who blocks the shop give the same refusal. */
      byId: ({ shop_id }: Caller, id: ClientId) => findClient(shop_id, { id }),
      /** The shop's client with this number. An unknown client and one who blocks the shop give the same refusal. */
      byPhone: ({ shop_id }: Caller, phone: Phone) => findClient(shop_id, { phone }),

      /** Creates a client's account. */
      register: Effect.fnUntraced(function* register(input: ClientInput) {
        const { given_name, family_name, phone } = input
        const hide_name = input.hide_name ?? false
        const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const id = makeIdentifier<ClientId>({ now, entropy: entropy.bytes(ENTROPY_BYTES) }, 0)
        const opened = yield* directory.createClient({ id, given_name, family_name, phone, hide_name, created_at: now })
        return opened ? { id } : yield* phoneTaken
      }),
      /** Records a visit to the shop's counter; from then on the shop knows the client. */
      visit: (id: ClientId, shop_id: ShopId) =>
        Effect.zipRight(shops.byId(shop_id), Effect.asVoid(store.transact(recordVisit(shop_id, id)))),
      /** Everything that is stored about a client, in all shops, including those that they block. */
      export: Effect.fnUntraced(function* exportClient(id: ClientId) {
        const client = yield* findAccount(id)
        yield* audit.record({ act: "client.exported", details: { client_id: id } })
        const { created_at, ...fields } = client
        const shops = yield* records.exportOf(personOf(client))
        const exported: ClientExport = { account: { ...fields, created_at: toIso(created_at) }, shops }
        return exported
      }),
      /**
       * Corrects a client's name or number; absent fields keep their values. Shops see the change at once; events that were sent do not
       * change.
       */
      correct: Effect.fnUntraced(function* correct(id: ClientId, correction: ClientCorrection) {
        const before = yield* findAccount(id)
        const after: ClientAccount = {
          ...before,
          given_name: correction.given_name ?? before.given_name,
          family_name: correction.family_name ?? before.family_name,
          phone: correction.phone ?? before.phone,
          hide_name: correction.hide_name ?? before.hide_name
        }
        const fields = Object.keys(correction).filter((name) => correction[name as keyof ClientCorrection] != null)
        yield* audit.record({ act: "client.corrected", details: { client_id: id, fields } })
        return (yield* directory.changeClient(after)) ? after : yield* phoneTaken
      }),
      /**
       * Erases a client: the account, and their names and numbers in all shops, including the given earlier numbers.
       * The entries of loyalty cards stay under the client's id, which then belongs to no account. If the call is
       * interrupted, repeat it. Returns the shops concerned, because their own systems may have copies.
       */
      erase: Effect.fnUntraced(function* erase(id: ClientId, phones: ReadonlyArray<Phone> = []) {
        const person = yield* personal.beginErasure(id, phones)
        if (person === null) return yield* new ClientNotFound()
        yield* audit.record({ act: "client.erased", details: { client_id: id } })
        const shops = yield* records.eraseEverywhere(person)
        yield* personal.endErasure(id)
        return { shops }
      }),
      /** The client's notifications in the app, oldest first. */
      inbox: (id: ClientId) => Effect.zipRight(findAccount(id), directory.inbox(id))
    }
  })
}) {}
