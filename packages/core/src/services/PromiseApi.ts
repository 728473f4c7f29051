import { Schema } from "effect"
import { StampCount } from "../decisions/giveStamps.js"
import { IdempotencyKey } from "../decisions/Idempotency.js"
import { QuoteAnswer } from "../decisions/quoteTicket.js"
import { ShopChannel } from "../decisions/recordNotified.js"
import { ClientId, EventId, KeyId, OfferId, ShopId, TicketId } from "../domain/Identifier.js"
import { Phone } from "../domain/Phone.js"
import { TicketStatus } from "../domain/TicketLifecycle.js"
import { TicketNumber } from "../domain/TicketNumber.js"
import { ProductionAddress } from "../domain/WebhookAddress.js"
import { Audit } from "./Audit.js"
import { Clients } from "./Clients.js"
import { DeliveryHistory } from "./DeliveryHistory.js"
import { Keys } from "./Keys.js"
import { Loyalty } from "./Loyalty.js"
import { Offers } from "./Offers.js"
import { OwnerPage } from "./OwnerPage.js"
import { Progress } from "./Progress.js"
import { decodeInput } from "./PromiseInputs.js"
import { Quotes } from "./Quotes.js"
import { Shops } from "./Shops.js"
import { Tickets } from "./Tickets.js"
import { type Run, toPromise } from "./toPromise.js"
import { Webhooks } from "./Webhooks.js"

/** The services that the Promise face has methods of. */
type Faced =
  | Audit
  | Tickets
  | Progress
  | Quotes
  | Clients
  | Offers
  | Loyalty
  | Shops
  | Keys
  | Webhooks
  | DeliveryHistory

/** Tickets, from the counter to their end. */
const work = (run: Run<Faced>) => {
  const method = toPromise(run)
  return {
    tickets: {
      /** A new ticket; a repetition under the same key answers the first one as it was (Specification, Endpoints). */
      create: method([decodeInput.caller, decodeInput.ticket, IdempotencyKey], (caller, ticket, key) =>
        Tickets.create(caller, ticket, key)
      ),
      /** A new ticket made in the app, where a repetition is a second ticket. */
      createInApp: method([decodeInput.caller, decodeInput.ticket], (caller, ticket) => Tickets.create(caller, ticket)),
      /** One ticket; another shop's is not found (Specification, Endpoints). */
      byId: method([decodeInput.caller, TicketId], (caller, id) => Tickets.byId(caller, id)),
      /** A page of tickets: newest first, or with `updated_since` in the order of changes (Specification, Lists and sync). */
      list: method([decodeInput.caller, decodeInput.ticketQuery], (caller, query) => Tickets.list(caller, query)),
      /** The newest open ticket with a number, else the newest, and the others that have it (Specification, Endpoints). */
      byNumber: method([decodeInput.caller, TicketNumber], (caller, number) => Tickets.byNumber(caller, number)),
      /** Moves a ticket by the transition table (Specification, States). */
      changeStatus: method([decodeInput.caller, TicketId, TicketStatus], (caller, id, status) =>
        Tickets.changeStatus(caller, id, status)
      ),
      /** Notes that the shop told the client itself (Specification, Endpoints). */
      recordNotified: method([decodeInput.caller, TicketId, ShopChannel], (caller, id, channel) =>
        Tickets.recordNotified(caller, id, channel)
      )
    },
    progress: {
      /** Changes what was said of a ticket (Specification, Tickets). */
      edit: method([decodeInput.caller, TicketId, decodeInput.ticketEdit], (caller, id, edit) =>
        Progress.edit(caller, id, edit)
      ),
      /** Postpones the promised date. */
      announceDelay: method([decodeInput.caller, TicketId, decodeInput.delay], (caller, id, delay) =>
        Progress.announceDelay(caller, id, delay)
      ),
      /** Notes a part as ordered or received. */
      recordPart: method([decodeInput.caller, TicketId, decodeInput.part], (caller, id, part) =>
        Progress.recordPart(caller, id, part)
      ),
      /** Puts a picture to the ticket. */
      attachPhoto: method([decodeInput.caller, TicketId, decodeInput.photo], (caller, id, photo) =>
        Progress.attachPhoto(caller, id, photo)
      )
    },
    quotes: {
      /** Proposes a new price for a ticket (Specification, Tickets). */
      propose: method([decodeInput.caller, TicketId, decodeInput.quote], (caller, id, quote) =>
        Quotes.propose(caller, id, quote)
      ),
      /** The client takes the proposed price. A ticket that is not theirs is not found. */
      accept: method([ClientId, TicketId], (client_id, id) => Quotes.accept(client_id, id)),
      /** The client refuses it; the price stays. A ticket that is not theirs is not found. */
      refuse: method([ClientId, TicketId], (client_id, id) => Quotes.refuse(client_id, id)),
      /** Notes what the client said to the shop itself, at the counter or by telephone; they need no account. */
      recordAnswer: method([decodeInput.caller, TicketId, QuoteAnswer], (caller, id, answer) =>
        Quotes.recordAnswer(caller, id, answer)
      )
    }
  }
}

/** The shop's clients. */
const people = (run: Run<Faced>) => {
  const method = toPromise(run)
  return {
    clients: {
      /** Opens a client's account (Specification, Clients and loyalty). */
      register: method([decodeInput.client], (client) => Clients.register(client)),
      /** A client of the shop; unknown and blocking are the same refusal. */
      byId: method([decodeInput.caller, ClientId], (caller, id) => Clients.byId(caller, id)),
      /** The client of the shop who holds a number; unknown and blocking are the same refusal. */
      byPhone: method([decodeInput.caller, Phone], (caller, phone) => Clients.byPhone(caller, phone)),
      /** The client comes to the shop's counter; from then on the shop knows them. */
      visit: method([ClientId, ShopId], (id, shop_id) => Clients.visit(id, shop_id)),
      /** Everything that is stored about a client, in all shops. */
      export: method([ClientId], (id) => Clients.export(id)),
      /** Corrects a client's name or number; what is left out stays. */
      correct: method([ClientId, decodeInput.correction], (id, correction) => Clients.correct(id, correction)),
      /** Erases a client, with further numbers that were theirs; again where it was interrupted. Answers the shops concerned. */
      erase: method([ClientId, Schema.Array(Phone)], (id, phones) => Clients.erase(id, phones)),
      /** What the client was told in the app, oldest first. */
      inbox: method([ClientId], (id) => Clients.inbox(id))
    },
    offers: {
      /** The offers that a client sees, oldest first. */
      ofClient: method([ClientId], (client_id) => Offers.ofClient(client_id)),
      /** The client takes the ticket as theirs; the shop knows them from now on. An offer to another's number is not found. */
      accept: method([ClientId, OfferId], (client_id, offer_id) => Offers.accept(client_id, offer_id)),
      /** The client blocks the shop, for good. An offer to another's number is not found. */
      block: method([ClientId, OfferId], (client_id, offer_id) => Offers.block(client_id, offer_id))
    },
    loyalty: {
      /** The shop's programme and the client's card, also while the programme is off. */
      read: method([decodeInput.caller, ClientId], (caller, client_id) => Loyalty.read(caller, client_id)),
      /** Adds stamps to the card; a repetition under the same key adds none (Specification, Endpoints). */
      giveStamps: method([decodeInput.caller, ClientId, StampCount, IdempotencyKey], (caller, client_id, count, key) =>
        Loyalty.giveStamps(caller, client_id, count, key)
      ),
      /** Uses one reward; a repetition under the same key uses none (Specification, Endpoints). */
      redeem: method([decodeInput.caller, ClientId, IdempotencyKey], (caller, client_id, key) =>
        Loyalty.redeem(caller, client_id, key)
      )
    }
  }
}

/** What a shop's owner and the operator do. */
const office = (run: Run<Faced>) => {
  const method = toPromise(run)
  return {
    shops: {
      /** Opens a shop: approved, active and with the API switched on. */
      create: method([decodeInput.shop], (shop) => Shops.create(shop)),
      /** The shop's settings, head and webhook. */
      byId: method([ShopId], (id) => Shops.byId(id)),
      /** By id, after the given one, at most so many. */
      list: method([Schema.NullOr(ShopId), Schema.NonNegativeInt], (after, limit) => Shops.list(after, limit)),
      /** Changes a shop's settings. Keys of the shop feel it at once. */
      change: method([ShopId, decodeInput.shopPatch], (id, patch) => Shops.change(id, patch))
    },
    keys: {
      /** A new key. `key` is its text and is never to be had again (Specification, Keys and scopes). */
      create: method([ShopId, decodeInput.key], (shop_id, key) => Keys.create(shop_id, key)),
      /** All keys of the shop, revoked ones too, oldest first. */
      list: method([ShopId], (shop_id) => Keys.list(shop_id)),
      /** Revokes a key: refused at once here, within a minute elsewhere (Specification, Keys and scopes). */
      revoke: method([KeyId], (id) => Keys.revoke(id))
    },
    webhooks: {
      /** Sets the address. The first time it makes the secret; either way the secret is shown (Specification, Webhooks). */
      set: method([ShopId, ProductionAddress], (shop_id, url) => Webhooks.set(shop_id, url)),
      /** Where events go, and how that has been going. */
      status: method([ShopId], (shop_id) => Webhooks.status(shop_id)),
      /** A new secret; the old one signs beside it for 24 hours (Specification, Webhooks). */
      rotate: method([ShopId], (shop_id) => Webhooks.rotate(shop_id)),
      /** Turns the webhook on again. */
      enable: method([ShopId], (shop_id) => Webhooks.enable(shop_id)),
      /** Turns the webhook off: events are parked until it is turned on again. */
      disable: method([ShopId], (shop_id) => Webhooks.disable(shop_id)),
      /** Removes the webhook with its secrets and all that waits to be delivered. */
      remove: method([ShopId], (shop_id) => Webhooks.remove(shop_id)),
      /** Raises a `ping`. */
      ping: method([ShopId], (shop_id) => Webhooks.ping(shop_id)),
      /** The shop's latest events as sent, oldest first, 1,000 unless told; the page before is that before the first one's `seq`. */
      events: method([ShopId, Schema.UndefinedOr(OwnerPage)], (shop_id, page) => Webhooks.events(shop_id, page))
    },
    outbox: {
      /** The latest deliveries, in the order of their events, 1,000 unless told; the page before is that before the first one's `seq`. */
      deliveries: method([ShopId, Schema.UndefinedOr(OwnerPage)], (shop_id, page) =>
        DeliveryHistory.deliveries(shop_id, page)
      ),
      /** What the owner was told of their webhook, oldest first. */
      notices: method([ShopId], (shop_id) => DeliveryHistory.notices(shop_id)),
      /** Sends events again, under the same ids, after everything that is due now. Answers how many (Specification, Sandbox). */
      replay: method([ShopId, decodeInput.replay], (shop_id, filter) => DeliveryHistory.replay(shop_id, filter))
    }
  }
}

/** What was done, by whom. */
const record = (run: Run<Faced>) => {
  const method = toPromise(run)
  return {
    audit: {
      /** The latest first: of a shop, or all for null; those before the entry with an id; at most so many. */
      list: method([Schema.NullOr(ShopId), Schema.NullOr(EventId), Schema.NonNegativeInt], (shop_id, before, limit) =>
        Audit.list(shop_id, before, limit)
      )
    }
  }
}

/** The services' methods for teams without Effect. Editors show the arguments by the names that they are given here. */
export const promiseApi = (run: Run<Faced>) => ({ ...work(run), ...people(run), ...office(run), ...record(run) })
