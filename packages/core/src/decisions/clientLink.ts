import { Either } from "effect"
import { type ClientLink, type ClientNotFound, clientBadge, isBlocked, visibleClient } from "../domain/Client.js"
import type { ClientId, OfferId, ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import { OfferClosed, OfferNotFound, type OfferStatus } from "../domain/Offer.js"
import { toUnchangedDecision } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

const linkOrNew = (shop_id: ShopId, client_id: ClientId, link: ClientLink | null, now: Instant): ClientLink =>
  link ?? { shop_id, client_id, known_at: now, blocked_at: null }

/**
 * Records a visit to the counter, after which the shop knows the client. A visit does not lift a block (Specification,
 * Clients and loyalty).
 */
export const recordVisit = (shop_id: ShopId, client_id: ClientId): Command<void, ClientNotFound> =>
  makeCommand(shop_id, { known: Load.account(client_id) }, (loaded, changes, moment) => {
    if (loaded.known.link !== null) return toUnchangedDecision<void>(undefined)
    const row = linkOrNew(shop_id, client_id, null, moment.now)
    return changes.add({ _tag: "LinkPut", row }).toDecision<void>(undefined)
  })

/**
 * Records the answer of the account that has the number to which a ticket was offered. Accepting makes the client known
 * to the shop and links the ticket, unless the ticket is abandoned or has a client whom the shop sees. Blocking hides
 * the client from the shop (Specification, Endpoints; Clients and loyalty). If the answer names a client, the offer is
 * not found unless that client has the number.
 */
export const answerOffer = (
  shop_id: ShopId,
  id: OfferId,
  answer: Exclude<OfferStatus, "open">,
  by?: ClientId
): Command<void, OfferNotFound | OfferClosed> =>
  makeCommand(shop_id, { offer: Load.offer(id) }, (loaded, changes, moment) => {
    const { now } = moment
    const { record, ticket, linked, holder, link } = loaded.offer
    if (by !== undefined && by !== holder.id) return Either.left(new OfferNotFound())
    if (record.status !== "open" || isBlocked(link)) return Either.left(new OfferClosed())
    changes.add({ _tag: "OfferPut", row: { ...record, status: answer, answered_at: now } })
    if (answer === "blocked") {
      const row = { shop_id, client_id: holder.id, known_at: link?.known_at ?? null, blocked_at: now }
      return changes.add({ _tag: "LinkPut", row }).toDecision<void>(undefined)
    }
    const row = linkOrNew(shop_id, holder.id, link, now)
    changes.add({ _tag: "LinkPut", row })
    const client = visibleClient(holder, row)
    // A linked client who has blocked the shop does not count, so the ticket has no client.
    if (linked === null && client !== null && ticket.state !== "abandoned") {
      const view = changes.putTicket({ ...ticket, client_id: holder.id }, client)
      changes.raiseEvent("client.linked", { ticket: view, client: clientBadge(client) }, ticket.id)
    }
    return changes.toDecision<void>(undefined)
  })
