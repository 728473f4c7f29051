import { type Instant, Limits, ShopId, Shops } from "@workshop/core"
import { toIso } from "@workshop/core/internal"
import { FailureBodyOf, type GroupHandlers } from "@workshop/core/internal/http"
import { Closures, DeliveryLog, type DueClosure, LAST_INSTANT, Reads, ServiceLimits } from "@workshop/core/store"
import { Effect, Schema } from "effect"
import { type AgendaEntry, type AgendaKind, type AwaitedAttempt, agendaOf } from "./agenda.js"
import { dataOnly, endpoint, groupOf } from "./endpoints.js"
import type { shopLimits } from "./LimitsApi.js"
import { countParameter, optionalParameter } from "./queryParameters.js"
import { enumSchema, numberLabelOf } from "./views.js"

const kinds = {
  retry: "an attempt to deliver an event",
  closure: "the closure of a ticket",
  reopen_end: "the end of the time in which a collected ticket may be reopened",
  limit_reset: "a limit resets",
  secret_end: "the webhook's old secret stops signing",
  key_expiry: "a key expires"
} as const satisfies Readonly<Record<AgendaKind, string>>

const nullableText = Schema.NullOr(Schema.String)

const Entry = Schema.Struct({
  at: Schema.String,
  kind: enumSchema(kinds),
  shop_id: Schema.String,
  ticket_id: nullableText,
  number_label: nullableText,
  event_id: nullableText,
  event_type: nullableText,
  text: Schema.String
}).annotations({ identifier: "AgendaEntry" })

const AgendaQuery = Schema.Struct({
  shop: optionalParameter(ShopId, "Return only entries of this shop"),
  limit: countParameter(1000, "How many entries to return at most. The default is 50")
})

/** The endpoints of the agenda, which lists the next events that time alone causes (Specification, Sandbox). */
export class AgendaApi extends groupOf(
  "agenda",
  ["Agenda", "The next events that happen without a request"],
  endpoint("GET", "readAgenda", "/agenda", Schema.Array(Entry), [
    "Read the next scheduled events",
    'Returns the soonest first. `POST /sandbox/clock` with `{"to": "next"}` moves the clock to the first one after the present.'
  ])
    .setUrlParams(AgendaQuery)
    .addError(FailureBodyOf("NOT_FOUND"))
) {}

const DEFAULT_LIMIT = 50
/** The number of a shop's latest deliveries that are searched for scheduled attempts. */
const MAX_DELIVERIES = 2000
/** The largest number of collected tickets of a shop that are read. */
const MAX_COLLECTED = 1000

/** Makes the function that reads the agenda, of one shop or of all. */
export const makeAgenda = ({ gauges }: Effect.Effect.Success<ReturnType<typeof shopLimits>>) =>
  Effect.gen(function* () {
    const shops = yield* Shops
    const reads = yield* Reads
    const log = yield* DeliveryLog
    const closures = yield* Closures

    const attemptsOf = Effect.fnUntraced(function* (shop_id: ShopId) {
      const part = { limit: MAX_DELIVERIES }
      const waitingDeliveries = (yield* log.deliveries(shop_id, part)).filter(
        ({ next_attempt_at }) => next_attempt_at !== null
      )
      if (waitingDeliveries.length === 0) return []
      const events = new Map((yield* reads.events(shop_id, part)).map((event) => [event.id, event]))
      return waitingDeliveries.map(({ event_id, type, attempts, next_attempt_at }): AwaitedAttempt => {
        const event = events.get(event_id)
        const n = (attempts.at(-1)?.n ?? 0) + 1
        return {
          event_id,
          type,
          ticket_id: event?.ticket_id ?? null,
          number_label: event === undefined ? null : numberLabelOf(event),
          n,
          at: next_attempt_at!
        }
      })
    })

    const agendaOfShop = Effect.fnUntraced(function* (shop_id: ShopId, due: ReadonlyArray<DueClosure>, now: Instant) {
      const { webhook } = yield* shops.byId(shop_id)
      const closing = yield* Effect.forEach(due, ({ id }) => reads.ticket(shop_id, id))
      // A ticket's last change is not before its collection, so this query returns all tickets that can still be
      // reopened.
      const since = Math.max(0, now - Limits.reopen_window_ms)
      const collected = yield* reads.tickets(
        shop_id,
        { state: ["collected"] },
        { _tag: "Changes", since, after: null, max: MAX_COLLECTED },
        MAX_COLLECTED
      )
      return agendaOf(
        {
          shop_id,
          webhook,
          keys: yield* reads.keys(shop_id),
          tickets: [...closing.flatMap(({ tickets }) => tickets), ...collected.tickets].map(({ record }) => record),
          attempts: yield* attemptsOf(shop_id),
          limits: (yield* gauges(shop_id)).map(({ status }) => status)
        },
        now
      )
    })

    return Effect.fnUntraced(function* (shop: ShopId | undefined, limit: number, now: Instant) {
      const ids = shop === undefined ? (yield* shops.list(null, ServiceLimits.list_max)).map(({ id }) => id) : [shop]
      const closing = yield* closures.due(LAST_INSTANT, shop === undefined ? limit : ServiceLimits.list_max)
      const entries: Array<AgendaEntry> = []
      for (const id of ids) {
        const due = closing.filter(({ shop_id }) => shop_id === id).slice(0, limit)
        entries.push(...(yield* agendaOfShop(id, due, now)))
      }
      return entries.sort((a, b) => a.at - b.at).slice(0, limit)
    })
  })

/** Reads the agenda of one shop or of all. */
export type Agenda = Effect.Effect.Success<ReturnType<typeof makeAgenda>>

/** Handles the endpoints of the agenda. */
export const agendaHandlers = (agenda: Agenda): GroupHandlers<typeof AgendaApi, void> => ({
  readAgenda: Effect.fnUntraced(function* ({ urlParams: { shop, limit = DEFAULT_LIMIT } }) {
    const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
    return dataOnly((yield* agenda(shop, limit, now)).map((entry) => ({ ...entry, at: toIso(entry.at) })))
  })
})
