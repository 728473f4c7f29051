import {
  Cause,
  type Clock,
  Effect,
  Either,
  Exit,
  Layer,
  ManagedRuntime,
  ParseResult,
  Runtime,
  type Schema
} from "effect"
import { TicketEdit } from "../decisions/editTicket.js"
import { StampCount } from "../decisions/giveStamps.js"
import { IdempotencyKey } from "../decisions/Idempotency.js"
import { DelayInput, PartInput, PhotoInput } from "../decisions/keepTicketNews.js"
import { KeyInput, ShopPatch } from "../decisions/ownShop.js"
import { QuoteInput } from "../decisions/quoteTicket.js"
import { ShopChannel } from "../decisions/recordNotified.js"
import { TicketInput } from "../decisions/TicketInput.js"
import { ClientId, KeyId, OfferId, ShopId, TicketId } from "../domain/Identifier.js"
import { InvalidInput } from "../domain/InvalidInput.js"
import type { NoticeRecord } from "../domain/Notice.js"
import type { NotificationRecord } from "../domain/Notification.js"
import { Phone } from "../domain/Phone.js"
import { flatten } from "../domain/SchemaIssue.js"
import { TicketStatus } from "../domain/TicketLifecycle.js"
import { TicketNumber } from "../domain/TicketNumber.js"
import { ProductionAddress } from "../domain/WebhookAddress.js"
import { Entropy } from "../ports/Entropy.js"
import { ClientNotifier, NotTold, OwnerNotifier } from "../ports/Notifiers.js"
import type { ProfanityFilter } from "../ports/ProfanityFilter.js"
import type { StorePorts } from "../ports/StorePorts.js"
import type { WebhookSender } from "../ports/WebhookSender.js"
import { Caller } from "./Caller.js"
import { ClientInput, Clients } from "./Clients.js"
import { Closer } from "./Closer.js"
import { Dispatcher } from "./Dispatcher.js"
import { Keys } from "./Keys.js"
import { Loyalty } from "./Loyalty.js"
import { Messenger } from "./Messenger.js"
import * as Notifiers from "./Notifiers.js"
import { Offers } from "./Offers.js"
import { Outbox, ReplayInput } from "./Outbox.js"
import * as Profanity from "./Profanity.js"
import { Progress } from "./Progress.js"
import { Quotes } from "./Quotes.js"
import { ShopInput, Shops } from "./Shops.js"
import { TicketQueryJson } from "./TicketQuery.js"
import { Tickets } from "./Tickets.js"
import { Webhooks } from "./Webhooks.js"
import { layer as services } from "./Workshop.js"

/** What a service answered, or why it refused. Only defects reject the promise. */
export type Result<A, E> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly refusal: E }

/** What a workshop is made of; only the store has no default. */
export interface PromiseOptions<E = never> {
  readonly store: Layer.Layer<StorePorts, E, Entropy>
  /** How webhooks leave; without one, events are recorded and queued, for a process that has one. */
  readonly sender?: Layer.Layer<WebhookSender>
  /** Tells a client besides their inbox; where it rejects, it is called again later with the same notification (contract §5). */
  readonly clientNotifier?: (notification: NotificationRecord) => Promise<void>
  /** Tells a shop's owner of their webhook, in the same way; the log where it is left out (contract §9). */
  readonly ownerNotifier?: (notice: NoticeRecord) => Promise<void>
  /** The usual English and French words where it is left out. */
  readonly profanity?: Layer.Layer<ProfanityFilter>
  /** The system's random source where it is left out. */
  readonly entropy?: Layer.Layer<Entropy>
  /** The real clock where it is left out. */
  readonly clock?: Clock.Clock
}

type Services = Layer.Layer.Success<typeof services>
type Schemas = ReadonlyArray<Schema.Schema.AnyNoContext>
type Plain<S extends Schemas> = { readonly [K in keyof S]: Schema.Schema.Encoded<S[K]> }
type Checked<S extends Schemas> = { readonly [K in keyof S]: Schema.Schema.Type<S[K]> }

const check = <S extends Schemas>(schemas: S) => {
  const readers = schemas.map((schema) =>
    ParseResult.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
  )
  return (args: ReadonlyArray<unknown>): Either.Either<Checked<S>, InvalidInput> => {
    const read = readers.map((reader, i) => reader(args[i]))
    const issues = read.flatMap((result, i) =>
      Either.isLeft(result)
        ? flatten(result.left).map(({ field, message }) => ({
            field: field === "" ? `argument ${i + 1}` : field,
            message
          }))
        : []
    )
    return issues.length > 0
      ? Either.left(new InvalidInput({ issues }))
      : Either.right(Either.getOrThrow(Either.all(read)) as Checked<S>)
  }
}

type Run = <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<Result<A, E>>

/** A method for teams without Effect: plain arguments, checked by their schemas, and the answer as a promise. */
const promised =
  (run: Run) =>
  <const S extends Schemas, A, E>(schemas: S, method: (...args: Checked<S>) => Effect.Effect<A, E, Services>) => {
    const read = check(schemas)
    return (...args: Plain<S>): Promise<Result<A, E | InvalidInput>> =>
      run(Effect.flatMap(read(args), (checked): Effect.Effect<A, E | InvalidInput, Services> => method(...checked)))
  }

const face = (run: Run) => {
  const method = promised(run)
  return {
    tickets: {
      /** A new ticket; a repetition under the same key answers the first one as it was (spec §4). */
      create: method([Caller, TicketInput, IdempotencyKey], Tickets.create),
      /** A new ticket made in the app, where a repetition is a second ticket. */
      createInApp: method([Caller, TicketInput], Tickets.create),
      byId: method([Caller, TicketId], Tickets.byId),
      list: method([Caller, TicketQueryJson], Tickets.list),
      byNumber: method([Caller, TicketNumber], Tickets.byNumber),
      changeStatus: method([Caller, TicketId, TicketStatus], Tickets.changeStatus),
      recordNotified: method([Caller, TicketId, ShopChannel], Tickets.recordNotified)
    },
    progress: {
      edit: method([Caller, TicketId, TicketEdit], Progress.edit),
      announceDelay: method([Caller, TicketId, DelayInput], Progress.announceDelay),
      recordPart: method([Caller, TicketId, PartInput], Progress.recordPart),
      attachPhoto: method([Caller, TicketId, PhotoInput], Progress.attachPhoto)
    },
    quotes: {
      propose: method([Caller, TicketId, QuoteInput], Quotes.propose),
      accept: method([ShopId, TicketId], Quotes.accept),
      refuse: method([ShopId, TicketId], Quotes.refuse)
    },
    clients: {
      register: method([ClientInput], Clients.register),
      byId: method([Caller, ClientId], Clients.byId),
      byPhone: method([Caller, Phone], Clients.byPhone),
      visit: method([ClientId, ShopId], Clients.visit),
      inbox: method([ClientId], Clients.inbox)
    },
    offers: {
      ofClient: method([ClientId], Offers.ofClient),
      accept: method([OfferId], Offers.accept),
      block: method([OfferId], Offers.block)
    },
    loyalty: {
      read: method([Caller, ClientId], Loyalty.read),
      giveStamps: method([Caller, ClientId, StampCount, IdempotencyKey], Loyalty.giveStamps),
      redeem: method([Caller, ClientId, IdempotencyKey], Loyalty.redeem)
    },
    shops: {
      create: method([ShopInput], Shops.create),
      byId: method([ShopId], Shops.byId),
      change: method([ShopId, ShopPatch], Shops.change)
    },
    keys: {
      create: method([ShopId, KeyInput], Keys.create),
      list: method([ShopId], Keys.list),
      revoke: method([KeyId], Keys.revoke)
    },
    webhooks: {
      set: method([ShopId, ProductionAddress], Webhooks.set),
      status: method([ShopId], Webhooks.status),
      rotate: method([ShopId], Webhooks.rotate),
      enable: method([ShopId], Webhooks.enable),
      ping: method([ShopId], Webhooks.ping),
      events: method([ShopId], Webhooks.events)
    },
    outbox: {
      deliveries: method([ShopId], Outbox.deliveries),
      notices: method([ShopId], Outbox.notices),
      replay: method([ShopId, ReplayInput], Outbox.replay)
    },
    closer: {
      /** Closes everything due by now; for cron jobs. */
      runOnce: method([], () => Closer.runOnce)
    }
  }
}

/** A workshop for teams without Effect: every service by plain values and promises, until it is stopped. */
export type PromiseWorkshop = ReturnType<typeof face> & { readonly stop: () => Promise<void> }

const telling = <Record>(tell: (record: Record) => Promise<void>) => ({
  notify: (record: Record) => Effect.tryPromise({ try: () => tell(record), catch: (cause) => new NotTold({ cause }) })
})

/** Tells clients and owners, by the notifiers that were given. */
const messenger = ({ clientNotifier, ownerNotifier }: Pick<PromiseOptions, "clientNotifier" | "ownerNotifier">) =>
  Messenger.Default.pipe(
    Layer.provide(
      clientNotifier === undefined ? Notifiers.inboxOnly : Layer.succeed(ClientNotifier, telling(clientNotifier))
    ),
    Layer.provide(
      ownerNotifier === undefined ? Notifiers.ownerLog : Layer.succeed(OwnerNotifier, telling(ownerNotifier))
    )
  )

/** Starts a workshop on a store. It closes what is due and tells clients and owners by itself; `stop` lets go of everything. */
export const start = async <E>(options: PromiseOptions<E>): Promise<PromiseWorkshop> => {
  const { store, profanity = Profanity.layer, entropy = Entropy.layer, clock } = options
  const closing = Layer.scopedDiscard(Effect.flatMap(Closer, ({ run }) => Effect.forkScoped(run)))
  const tellingAll = Layer.scopedDiscard(Effect.flatMap(Messenger, ({ run }) => Effect.forkScoped(run)))
  const always = Layer.merge(closing, Layer.provide(tellingAll, messenger(options)))
  const delivering = Layer.scopedDiscard(Effect.flatMap(Dispatcher, ({ run }) => Effect.forkScoped(run)))
  const background =
    options.sender === undefined
      ? always
      : Layer.merge(always, delivering.pipe(Layer.provide(Dispatcher.layer()), Layer.provide(options.sender)))
  const whole = background.pipe(
    Layer.provideMerge(services),
    Layer.provideMerge(store),
    Layer.provideMerge(profanity),
    Layer.provideMerge(entropy)
  )
  const runtime = ManagedRuntime.make(clock === undefined ? whole : Layer.provideMerge(whole, Layer.setClock(clock)))
  const runExit = Runtime.runPromiseExit(await runtime.runtime())
  let isStopped = false
  const run: Run = async (effect) => {
    if (isStopped) throw new Error("This workshop was stopped; start another one")
    const exit = await runExit(effect)
    if (Exit.isSuccess(exit)) return { ok: true, value: exit.value }
    const failure = Cause.failureOrCause(exit.cause)
    if (Either.isLeft(failure)) return { ok: false, refusal: failure.left }
    throw Cause.squash(exit.cause)
  }
  const stop = () => {
    isStopped = true
    return runtime.dispose()
  }
  return { ...face(run), stop }
}
