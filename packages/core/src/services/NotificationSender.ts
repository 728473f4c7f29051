import { Effect, Exit, Schedule } from "effect"
import { beginNotification, type NotificationAttempt, recordNotification } from "../decisions/sendNotification.js"
import type { Instant } from "../domain/Instant.js"
import type { Message } from "../domain/Message.js"
import { Messages } from "../ports/Messages.js"
import { ClientNotifier, NotificationFailed, OwnerNotifier } from "../ports/Notifiers.js"
import { Store, type StoreUnavailable } from "../ports/Store.js"
import { InFlight } from "./InFlight.js"

/** How many messages this process tells at once. */
const MOST_AT_ONCE = 256
/** How long a notifier may take over one message, in real time. */
const PATIENCE = "10 seconds"
/** How often the queue is looked at. */
const POLL = "1 second"
/** How long messages under way may go on after an interruption, in real time. */
const GRACE = "5 seconds"
/** How the end of an attempt is tried to be written; where that fails it counts as failed. */
const RECORDING = Schedule.intersect(Schedule.exponential("50 millis"), Schedule.recurs(7))

const now = Effect.clockWith((clock) => clock.currentTimeMillis)

const giveUp = ({ shop_id, id }: NotificationAttempt) =>
  Effect.annotateLogs(Effect.logError("A message was given up: nobody could be told of it"), { shop_id, id })

/** One attempt: tells, and records what came of it. A notifier that dies has not told. */
const makeAttempt = Effect.gen(function* () {
  const store = yield* Store
  const clients = yield* ClientNotifier
  const owners = yield* OwnerNotifier

  const tell = (message: Message) =>
    Effect.suspend(() =>
      message.receiver === "client" ? clients.notify(message.says) : owners.notify(message.says)
    ).pipe(
      Effect.disconnect,
      Effect.timeoutFail({ duration: PATIENCE, onTimeout: () => new NotificationFailed({ cause: "It took too long" }) })
    )

  const attempt = Effect.fnUntraced(function* (message: Message) {
    const exit = yield* Effect.exit(tell(message))
    const telling = { ...message, attempts_made: message.attempts_made + 1 }
    const recorded = store.transact(recordNotification(telling, Exit.isSuccess(exit))).pipe(Effect.retry(RECORDING))
    const { answer } = yield* recorded
    if (Exit.isFailure(exit)) yield* Effect.logWarning("A message could not be told", message.id, exit.cause)
    if (answer === "given_up") yield* giveUp(message)
  })

  return (message: Message) =>
    Effect.catchAllCause(attempt(message), (cause) =>
      Effect.logWarning("What came of a message was not recorded; it will be told again", message.id, cause)
    )
})

/** Begins to tell a message on its own, so that none waits for another. Answers whether anything came of it. */
const makeBegin = (flights: InFlight) =>
  Effect.gen(function* () {
    const store = yield* Store
    const attempt = yield* makeAttempt
    return (message: Message) =>
      Effect.gen(function* () {
        const { answer } = yield* store.transact(beginNotification(message))
        if (answer === "given_up") yield* giveUp(message)
        if (answer === "begun") yield* flights.begin(attempt(message))
        return answer !== "superseded"
      }).pipe(
        // One that cannot be begun must not keep the others from it; a store that is away fails them all alike.
        Effect.catchAllDefect((defect) =>
          Effect.as(Effect.logError("A message could not be begun", message.id, defect), false)
        )
      )
  })

/** Hands what clients and owners are to be told to the embedder's notifiers, again and again where it must (Specification, States; Webhooks). */
export class NotificationSender extends Effect.Service<NotificationSender>()("@workshop/core/Messenger", {
  accessors: true,
  scoped: Effect.gen(function* () {
    const messages = yield* Messages
    const flights = new InFlight()
    const begin = yield* makeBegin(flights)
    yield* Effect.addFinalizer(() => flights.letGo)
    const oneByOne = Effect.unsafeMakeSemaphore(1).withPermits(1)
    let answered = 0

    // What is begun takes off at once, or it would have used up an attempt for nothing.
    const beginDue = oneByOne(
      Effect.uninterruptible(
        Effect.gen(function* () {
          const free = MOST_AT_ONCE - flights.count
          const due = free > 0 ? yield* messages.due(yield* now, free) : []
          const begun = yield* Effect.forEach(due, begin)
          return begun.filter((isBegun) => isBegun).length
        })
      )
    )

    const runOnce: Effect.Effect<number, StoreUnavailable> = Effect.gen(function* () {
      while (true) {
        const { news } = flights
        const begun = yield* beginDue
        if (flights.count > 0) yield* news
        else if (begun === 0) break
      }
      const since = flights.landed - answered
      answered = flights.landed
      return since
    })

    const turn = Effect.gen(function* () {
      const { news } = flights
      const begun = yield* beginDue
      if (begun === 0 || flights.count >= MOST_AT_ONCE) yield* Effect.race(news, Effect.sleep(POLL))
    }).pipe(
      Effect.catchAllCause((cause) =>
        Effect.zipRight(Effect.logWarning("Messages could not be looked for; trying again", cause), Effect.sleep(POLL))
      )
    )

    return {
      /** Tells everything due by now, and waits for all under way. Answers how many attempts ended since it last answered. */
      runOnce,
      /** The earliest instant, at most `until`, at which a message is due: now while some are under way; null where none is. */
      next: (until: Instant) =>
        oneByOne(
          Effect.suspend(() =>
            flights.count > 0 ? now : Effect.map(messages.due(until, 1), ([first]) => first?.due_at ?? null)
          )
        ),
      /**
       * Tells what is due, until interrupted. Then it begins no more, and waits at most five real seconds for what is under
       * way; what has not ended by then comes again by the retry table.
       */
      run: Effect.forever(turn).pipe(
        Effect.ensuring(
          Effect.zipRight(Effect.timeoutOption(Effect.interruptible(flights.allLanded), GRACE), flights.letGo)
        )
      )
    }
  })
}) {}
