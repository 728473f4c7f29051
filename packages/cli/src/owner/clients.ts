import { ClientId, OfferId, ShopId } from "@workshop/core/domain/Identifier"
import { toIso } from "@workshop/core/domain/Instant"
import type { OfferRecord } from "@workshop/core/domain/Offer"
import { Directory } from "@workshop/core/ports/Directory"
import { appOf } from "@workshop/core/services/Caller"
import { ClientInput, Clients } from "@workshop/core/services/Clients"
import { Offers } from "@workshop/core/services/Offers"
import { Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { confirm } from "../terminal/confirm.js"
import type { Column } from "../terminal/Table.js"
import { decoded, idFrom } from "./fromFlags.js"
import { oneOf, sentence, several } from "./record.js"

/** What `workshop client create` was told. */
export interface AskedClient {
  readonly givenName: string | null
  readonly familyName: string | null
  readonly phone: string | null
  readonly hideName: boolean
}

const clientId = (typed: string) => idFrom(ClientId, "a client", typed)
const offerId = (typed: string) => idFrom(OfferId, "an offer", typed)
const shopId = (typed: string | null) => idFrom(ShopId, "a shop", typed)

const offerView = ({ id, shop_id, ticket_id, status, created_at }: OfferRecord) => ({
  id,
  shop_id,
  ticket_id,
  status,
  created_at: toIso(created_at)
})

const offerColumns: ReadonlyArray<Column<ReturnType<typeof offerView>>> = [
  { title: "ID", cell: ({ id }) => id, isWhole: true },
  { title: "SHOP", cell: ({ shop_id }) => shop_id, isWhole: true },
  { title: "TICKET", cell: ({ ticket_id }) => ticket_id },
  { title: "STATUS", cell: ({ status }) => status },
  { title: "MADE", cell: ({ created_at }) => created_at.slice(0, 10) }
]

/** Opens a client's account. */
export const create = Effect.fnUntraced(function* ({ givenName, familyName, phone, hideName }: AskedClient) {
  const fields = { given_name: givenName, family_name: familyName, phone, hide_name: hideName }
  return oneOf(yield* Clients.register(yield* decoded(ClientInput, fields)))
})

/** An account; or, where a shop is named, the client as that shop sees them. */
export const show = Effect.fnUntraced(function* (typed: string, shop: string | null) {
  const id = yield* clientId(typed)
  if (shop !== null) return oneOf(yield* Clients.byId(appOf(yield* shopId(shop)), id))
  const account = yield* Effect.flatMap(Directory, (directory) => directory.account(id))
  if (account === null)
    return yield* new CommandRefused({ message: `There is no client ${id}: workshop client create opens an account.` })
  return oneOf({ ...account, created_at: toIso(account.created_at) })
})

/** The client comes to a shop's counter: the shop knows them from now on. */
export const visit = Effect.fnUntraced(function* (typed: string, shop: string | null) {
  const [client_id, shop_id] = [yield* clientId(typed), yield* shopId(shop)]
  yield* Clients.visit(client_id, shop_id)
  return sentence(
    { client_id, shop_id },
    `The shop ${shop_id} knows the client ${client_id} now, unless they blocked it.`
  )
})

/** The tickets offered to the client. */
export const offers = Effect.fnUntraced(function* (typed: string) {
  const found = yield* Offers.ofClient(yield* clientId(typed))
  return several(found.map(offerView), offerColumns, "No ticket is offered to this client.")
})

/** The client takes an offered ticket as theirs. */
export const accept = Effect.fnUntraced(function* (client: string, offer: string) {
  const [client_id, id] = [yield* clientId(client), yield* offerId(offer)]
  yield* Offers.accept(client_id, id)
  return sentence({ id, status: "accepted" }, `The offer ${id} is accepted; the ticket is the client's.`)
})

/** The client blocks the shop of an offer, for good. */
export const block = Effect.fnUntraced(function* (client: string, offer: string, isWanted: boolean) {
  const [client_id, id] = [yield* clientId(client), yield* offerId(offer)]
  yield* confirm(`The client ${client_id} blocks the shop of the offer ${id} for good; no visit lifts it.`, isWanted)
  yield* Offers.block(client_id, id)
  return sentence({ id, status: "blocked" }, "The client blocks the shop of this offer.")
})
