import { Effect, Either, Schema } from "effect"
import { ShopChannel } from "../../decisions/changeStatus.js"
import { TicketInput } from "../../decisions/createTicket.js"
import { TicketEdit } from "../../decisions/editTicket.js"
import { StampCount } from "../../decisions/giveStamps.js"
import { IdempotencyKey } from "../../decisions/Idempotency.js"
import { QuoteAnswer, QuoteInput } from "../../decisions/quotes.js"
import { KeyInput, ShopPatch } from "../../decisions/shopSettings.js"
import { DelayInput, PartInput, PhotoInput } from "../../decisions/ticketProgress.js"
import { ClientId, EventId, KeyId, OfferId, ShopId, TicketId } from "../../domain/Identifier.js"
import { InvalidInput } from "../../domain/InvalidInput.js"
import { Phone } from "../../domain/Phone.js"
import { optional } from "../../domain/Text.js"
import { TicketNumber } from "../../domain/Ticket.js"
import { TicketStatus } from "../../domain/TicketLifecycle.js"
import { parseWebhookAddress } from "../../domain/WebhookAddress.js"
import { WebhookPolicy } from "../../ports/WebhookPolicy.js"
import { Audit } from "../Audit.js"
import { Caller } from "../Caller.js"
import { ClientCorrection, ClientInput, Clients } from "../Clients.js"
import { DeliveryHistory, OwnerPage, ReplayInput } from "../DeliveryHistory.js"
import { Keys } from "../Keys.js"
import { Loyalty } from "../Loyalty.js"
import { Offers } from "../Offers.js"
import { Progress } from "../Progress.js"
import { Quotes } from "../Quotes.js"
import { ShopInput, Shops } from "../Shops.js"
import { TicketQueryJson } from "../TicketQuery.js"
import { Tickets } from "../Tickets.js"
import { Webhooks } from "../Webhooks.js"
import type {
  ClientOfferRef,
  ClientTicketRef,
  PlainAuditQuery,
  PlainCaller,
  PlainClient,
  PlainCorrection,
  PlainDelay,
  PlainKey,
  PlainPart,
  PlainPhoto,
  PlainQuote,
  PlainReplay,
  PlainShop,
  PlainShopPatch,
  PlainTicket,
  PlainTicketEdit,
  PlainTicketQuery,
  PlainVisit
} from "./PlainInputs.js"
import { type Result, type RunEffect, toPromise } from "./toPromise.js"

type Read<S extends Schema.Schema.Any, Encoded> = Schema.Schema<Schema.Schema.Type<S>, Encoded>

const ClientTicketIds = Schema.Struct({ client_id: ClientId, ticket_id: TicketId })
const ClientOfferIds = Schema.Struct({ client_id: ClientId, offer_id: OfferId })
const VisitIds = Schema.Struct({ client_id: ClientId, shop_id: ShopId })
const AuditQuery = Schema.Struct({
  shop_id: optional(ShopId),
  before: optional(EventId),
  limit: Schema.optionalWith(Schema.NonNegativeInt, { exact: true })
})

// An error about the whole argument names it by this identifier.
const OptionalKey = Schema.UndefinedOr(IdempotencyKey).annotations({ identifier: "IdempotencyKey" })
const Part = Schema.UndefinedOr(OwnerPage).annotations({ identifier: "Page" })
const After = Schema.NullishOr(ShopId).annotations({ identifier: "After" })
const PageLimit = Schema.NonNegativeInt.annotations({ identifier: "Limit" })
const Address = Schema.String.annotations({ identifier: "WebhookAddress" })

/** The schemas of the arguments of the Promise API. Editors and errors show the names of these types in place of all their fields. */
export const decodeInput = {
  caller: Caller as Read<typeof Caller, PlainCaller>,
  ticket: TicketInput as Read<typeof TicketInput, PlainTicket>,
  ticketEdit: TicketEdit as Read<typeof TicketEdit, PlainTicketEdit>,
  ticketQuery: TicketQueryJson as Read<typeof TicketQueryJson, PlainTicketQuery>,
  delay: DelayInput as Read<typeof DelayInput, PlainDelay>,
  part: PartInput as Read<typeof PartInput, PlainPart>,
  photo: PhotoInput as Read<typeof PhotoInput, PlainPhoto>,
  quote: QuoteInput as Read<typeof QuoteInput, PlainQuote>,
  correction: ClientCorrection as Read<typeof ClientCorrection, PlainCorrection>,
  clientTicket: ClientTicketIds as Read<typeof ClientTicketIds, ClientTicketRef>,
  clientOffer: ClientOfferIds as Read<typeof ClientOfferIds, ClientOfferRef>,
  visit: VisitIds as Read<typeof VisitIds, PlainVisit>,
  auditQuery: AuditQuery as Read<typeof AuditQuery, PlainAuditQuery>,
  client: ClientInput as Read<typeof ClientInput, PlainClient>,
  shop: ShopInput as Read<typeof ShopInput, PlainShop>,
  shopPatch: ShopPatch as Read<typeof ShopPatch, PlainShopPatch>,
  key: KeyInput as Read<typeof KeyInput, PlainKey>,
  replay: ReplayInput as Read<typeof ReplayInput, PlainReplay>,
  number: TicketNumber.annotations({ identifier: "TicketNumber" }),
  phones: Schema.Array(Phone).annotations({ identifier: "Phones" })
}

const IN_DEVELOPMENT =
  "; in development, for a receiver on this machine, pass webhookPolicy: { allowLoopbackHttp: true } to start"

/** The address of a webhook under the embedder's policy. */
const checkAddress = (url: string) =>
  Effect.flatMap(WebhookPolicy, (policy) =>
    Either.mapLeft(parseWebhookAddress(url, policy), (refusal) => {
      const isLoopback = Either.isRight(parseWebhookAddress(url, { ...policy, allowLoopbackHttp: true }))
      const message = isLoopback ? `${refusal}${IN_DEVELOPMENT}` : refusal
      return new InvalidInput({ issues: [{ field: "webhook_address", message }] })
    })
  )

/** The services that have methods in the Promise API. */
type ApiServices =
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

/** Tickets, from creation to collection. */
const ticketMethods = (run: RunEffect<ApiServices>) => {
  const method = toPromise(run)
  return {
    tickets: {
      /** Creates a ticket; a repetition with the same key returns the first one as it was (Specification, Endpoints). */
      create: method([decodeInput.caller, decodeInput.ticket, IdempotencyKey], (caller, ticket, key) =>
        Tickets.create(caller, ticket, key)
      ),
      /** Creates a ticket in the app, without an idempotency key, so a repetition creates a second ticket. */
      createInApp: method([decodeInput.caller, decodeInput.ticket], (caller, ticket) => Tickets.create(caller, ticket)),
      /** One ticket; a ticket of another shop is not found (Specification, Endpoints). */
      byId: method([decodeInput.caller, TicketId], (caller, id) => Tickets.byId(caller, id)),
      /** A page of tickets: newest first, or with `updated_since` in the order of changes (Specification, Lists and sync). */
      list: method([decodeInput.caller, decodeInput.ticketQuery], (caller, query) => Tickets.list(caller, query)),
      /** The newest open ticket with a number, or else the newest, and the others that have it (Specification, Endpoints). */
      byNumber: method([decodeInput.caller, decodeInput.number], (caller, number) => Tickets.byNumber(caller, number)),
      /** The changes of a ticket with their authors, oldest first. */
      history: method([decodeInput.caller, TicketId], (caller, id) => Tickets.history(caller, id)),
      /** Moves a ticket by the table of moves; a repetition with the same key returns the ticket as it was (Specification, States; Idempotency). */
      changeStatus: method([decodeInput.caller, TicketId, TicketStatus, OptionalKey], (caller, id, status, key) =>
        Tickets.changeStatus(caller, id, status, key)
      ),
      /** Records that the shop itself notified the client; a repetition with the same key records nothing (Specification, Endpoints; Idempotency). */
      recordNotified: method([decodeInput.caller, TicketId, ShopChannel, OptionalKey], (caller, id, channel, key) =>
        Tickets.recordNotified(caller, id, channel, key)
      )
    },
    progress: {
      /** Corrects the fields of a ticket (Specification, Tickets). */
      edit: method([decodeInput.caller, TicketId, decodeInput.ticketEdit], (caller, id, edit) =>
        Progress.edit(caller, id, edit)
      ),
      /** Changes the promised date to a later one. */
      announceDelay: method([decodeInput.caller, TicketId, decodeInput.delay], (caller, id, delay) =>
        Progress.announceDelay(caller, id, delay)
      ),
      /** Records a part as ordered or received. */
      recordPart: method([decodeInput.caller, TicketId, decodeInput.part], (caller, id, part) =>
        Progress.recordPart(caller, id, part)
      ),
      /** Sets the ticket's picture. */
      attachPhoto: method([decodeInput.caller, TicketId, decodeInput.photo], (caller, id, photo) =>
        Progress.attachPhoto(caller, id, photo)
      )
    },
    quotes: {
      /** Proposes a new price for a ticket (Specification, Tickets). */
      propose: method([decodeInput.caller, TicketId, decodeInput.quote], (caller, id, quote) =>
        Quotes.propose(caller, id, quote)
      ),
      /** Accepts the proposed price for the client. A ticket of another client is not found. */
      accept: method([decodeInput.clientTicket], (of) => Quotes.accept(of.client_id, of.ticket_id)),
      /** Refuses the proposed price for the client, and the ticket keeps its price. A ticket of another client is not found. */
      refuse: method([decodeInput.clientTicket], (of) => Quotes.refuse(of.client_id, of.ticket_id)),
      /** Records the answer that a client gave at the counter or by telephone. The client needs no account. */
      recordAnswer: method([decodeInput.caller, TicketId, QuoteAnswer], (caller, id, answer) =>
        Quotes.recordAnswer(caller, id, answer)
      )
    }
  }
}

/** The shop's clients. */
const clientMethods = (run: RunEffect<ApiServices>) => {
  const method = toPromise(run)
  return {
    clients: {
      /** Creates a client's account (Specification, Clients and loyalty). */
      register: method([decodeInput.client], (client) => Clients.register(client)),
      /** A client of the shop. An unknown client and one who blocks the shop give the same refusal. */
      byId: method([decodeInput.caller, ClientId], (caller, id) => Clients.byId(caller, id)),
      /** The shop's client with this number. An unknown client and one who blocks the shop give the same refusal. */
      byPhone: method([decodeInput.caller, Phone], (caller, phone) => Clients.byPhone(caller, phone)),
      /** Records a visit to the shop's counter; from then on the shop knows the client. */
      visit: method([decodeInput.visit], (visit) => Clients.visit(visit.client_id, visit.shop_id)),
      /** Everything that is stored about a client, in all shops. */
      export: method([ClientId], (id) => Clients.export(id)),
      /** Corrects a client's name or number; absent fields keep their values. */
      correct: method([ClientId, decodeInput.correction], (id, correction) => Clients.correct(id, correction)),
      /** Erases a client, including the given earlier numbers; call it again if it was interrupted. Returns the shops concerned. */
      erase: method([ClientId, decodeInput.phones], (id, phones) => Clients.erase(id, phones)),
      /** The client's notifications in the app, oldest first. */
      inbox: method([ClientId], (id) => Clients.inbox(id))
    },
    offers: {
      /** The offers that a client sees, oldest first. */
      ofClient: method([ClientId], (client_id) => Offers.ofClient(client_id)),
      /** Links the ticket to the client, whom the shop knows from then on. An offer to another number is not found. */
      accept: method([decodeInput.clientOffer], (of) => Offers.accept(of.client_id, of.offer_id)),
      /** The client blocks the shop, permanently. An offer to another number is not found. */
      block: method([decodeInput.clientOffer], (of) => Offers.block(of.client_id, of.offer_id))
    },
    loyalty: {
      /** The shop's programme and the client's card, even while the programme is off. */
      read: method([decodeInput.caller, ClientId], (caller, client_id) => Loyalty.read(caller, client_id)),
      /** Adds stamps to the card; a repetition with the same key adds none (Specification, Endpoints). */
      giveStamps: method([decodeInput.caller, ClientId, StampCount, IdempotencyKey], (caller, client_id, count, key) =>
        Loyalty.giveStamps(caller, client_id, count, key)
      ),
      /** Redeems one reward; a repetition with the same key redeems none (Specification, Endpoints). */
      redeem: method([decodeInput.caller, ClientId, IdempotencyKey], (caller, client_id, key) =>
        Loyalty.redeem(caller, client_id, key)
      )
    }
  }
}

/** The methods for a shop's owner and for the operator. */
const ownerMethods = (run: RunEffect<ApiServices>) => {
  const method = toPromise(run)
  return {
    shops: {
      /** Creates a shop: approved, active and with the API switched on. */
      create: method([decodeInput.shop], (shop) => Shops.create(shop)),
      /**
       * For a program with one shop: returns the first shop, or creates this one if there is none. Of several processes
       * that start at once, one creates it. An existing shop keeps its settings, and the log warns of the settings that
       * differ.
       */
      firstOrCreate: method([decodeInput.shop], (shop) => Shops.firstOrCreate(shop)),
      /** The shop's settings, head and webhook. */
      byId: method([ShopId], (id) => Shops.byId(id)),
      /** Shops ordered by id, at most `limit`: after the shop with the id `after`, or from the first one if it is null. */
      list: method([After, PageLimit], (after, limit) => Shops.list(after ?? null, limit)),
      /** Changes a shop's settings. The changes apply to the shop's keys at once. */
      change: method([ShopId, decodeInput.shopPatch], (id, patch) => Shops.change(id, patch))
    },
    keys: {
      /** Creates a key. `key` is its text, which is never shown again (Specification, Keys and scopes). */
      create: method([ShopId, decodeInput.key], (shop_id, key) => Keys.create(shop_id, key)),
      /** All keys of the shop, including revoked ones, oldest first. */
      list: method([ShopId], (shop_id) => Keys.list(shop_id)),
      /** Revokes a key: this process refuses it at once, others within a minute (Specification, Keys and scopes). */
      revoke: method([KeyId], (id) => Keys.revoke(id))
    },
    webhooks: {
      /** Sets the URL and returns the secret, which the first call creates (Specification, Webhooks). */
      set: method([ShopId, Address], (shop_id, url) =>
        Effect.flatMap(checkAddress(url), (address) => Webhooks.set(shop_id, address))
      ),
      /** The webhook's URL, state and health. */
      status: method([ShopId], (shop_id) => Webhooks.status(shop_id)),
      /** Creates a new secret; the old one also signs for 24 hours (Specification, Webhooks). */
      rotate: method([ShopId], (shop_id) => Webhooks.rotate(shop_id)),
      /** Turns the webhook on again. */
      enable: method([ShopId], (shop_id) => Webhooks.enable(shop_id)),
      /** Turns the webhook off: deliveries are parked until it is turned on again. */
      disable: method([ShopId], (shop_id) => Webhooks.disable(shop_id)),
      /** Removes the webhook with its secrets and waiting deliveries. */
      remove: method([ShopId], (shop_id) => Webhooks.remove(shop_id)),
      /** Raises a `ping`. */
      ping: method([ShopId], (shop_id) => Webhooks.ping(shop_id)),
      /**
       * The shop's latest events as they were sent, oldest first, 1,000 by default. For earlier ones, pass the `seq` of the first one as
       * `before`.
       */
      events: method([ShopId, Part], (shop_id, page) => Webhooks.events(shop_id, page))
    },
    deliveries: {
      /**
       * The latest deliveries, in the order of their events, 1,000 by default. For earlier ones, pass the `seq` of the first one as
       * `before`.
       */
      list: method([ShopId, Part], (shop_id, page) => DeliveryHistory.list(shop_id, page)),
      /** The notices to the owner about the webhook, oldest first. */
      notices: method([ShopId], (shop_id) => DeliveryHistory.notices(shop_id)),
      /**
       * Sends events again, with the same ids, after all deliveries that are due now. Returns `{ count }`, the number of
       * events; with `dry_run` it sends none (Specification, Sandbox).
       */
      replay: method([ShopId, decodeInput.replay], (shop_id, filter) => DeliveryHistory.replay(shop_id, filter))
    }
  }
}

/** The audit log. */
const auditMethods = (run: RunEffect<ApiServices>) => {
  const method = toPromise(run)
  return {
    audit: {
      /** The entries of a shop, or of all shops, the latest first: 100 by default, or those before an entry. */
      list: method([decodeInput.auditQuery], (query) =>
        Audit.list(query.shop_id ?? null, query.before ?? null, query.limit ?? 100)
      )
    }
  }
}

/** The services' methods for teams without Effect. Editors show the names of their arguments. */
export const promiseApi = (run: RunEffect<ApiServices>) => ({
  ...ticketMethods(run),
  ...clientMethods(run),
  ...ownerMethods(run),
  ...auditMethods(run)
})

/** The type of methods, alone or in groups, whose promises reject with a refusal instead of resolving to it. */
export type OrThrow<Api> = {
  readonly [K in keyof Api]: Api[K] extends (...args: infer Args) => infer Answer
    ? Answer extends Promise<Result<infer A, unknown>>
      ? (...args: Args) => Promise<A>
      : Api[K]
    : OrThrow<Api[K]>
}

/** Returns the value of a result, or of a promise of a result; throws, or rejects with, its refusal. */
export function unwrap<A, E>(result: Promise<Result<A, E>>): Promise<A>
/** The value of a result; throws its refusal. */
export function unwrap<A, E>(result: Result<A, E>): A
export function unwrap<A, E>(result: Result<A, E> | Promise<Result<A, E>>): A | Promise<A> {
  if (result instanceof Promise) return result.then((settled) => unwrap(settled))
  if (result.ok) return result.value
  throw result.refusal
}

/** Wraps each method in {@link unwrap}. */
export const unwrapMethods = <Api extends object>(api: Api): OrThrow<Api> =>
  Object.fromEntries(
    Object.entries(api).map(([name, value]) => [
      name,
      typeof value !== "function"
        ? unwrapMethods(value)
        : (...args: ReadonlyArray<unknown>) => {
            const result = value(...args)
            return result instanceof Promise ? unwrap(result) : result
          }
    ])
  ) as OrThrow<Api>
