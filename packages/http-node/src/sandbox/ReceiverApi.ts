import {
  InvalidInput,
  parseWebhookAddress,
  type ShopId,
  Shops,
  type WebhookAddressPolicy,
  Webhooks
} from "@workshop/core"
import { optional, toIso } from "@workshop/core/internal"
import type { GroupHandlers } from "@workshop/core/internal/http"
import { Effect, Either, Schema } from "effect"
import { dataOnly, groupOf, shopEndpoint } from "./endpoints.js"
import type { Feed } from "./Feed.js"
import { countParameter } from "./queryParameters.js"
import { answerDescriptions, ReceivedEvent, ReceiverAnswer, ReceiverBehaviour, type Receivers } from "./Receivers.js"

const words = Object.keys(answerDescriptions)
const REFUSED = `must be a status from 200 to 599, or one of ${words.join(", ")}`

const ReceiverView = Schema.Struct({
  url: Schema.String,
  ...ReceiverBehaviour.fields,
  in_use: Schema.Boolean.annotations({ description: "Whether the built-in receiver is the shop's webhook" })
}).annotations({ identifier: "Receiver" })

const isAnswer = Schema.is(ReceiverAnswer)

/** The configured response of a receiver: a status or a name. One error message covers both forms. */
const AnswerInput = Schema.Union(Schema.Number, Schema.String)
  .pipe(Schema.filter((value): value is ReceiverAnswer => isAnswer(value), { message: () => REFUSED }))
  .annotations({
    identifier: "ReceiverAnswerInput",
    jsonSchema: {
      anyOf: [
        { type: "integer", minimum: 200, maximum: 599 },
        { type: "string", enum: words }
      ]
    }
  })

const ReceiverInput = Schema.Struct({
  answer: optional(AnswerInput),
  times: optional(
    Schema.Int.pipe(Schema.between(1, 1_000_000, { message: () => "must be a whole number from 1 to 1000000" }))
  ),
  afterwards: optional(AnswerInput),
  forward_to: optional(Schema.String),
  use: optional(Schema.Literal(true))
}).annotations({ identifier: "ReceiverInput" })

/** The endpoints of a receiver within the sandbox, which fails as a tester configures it (Specification, Sandbox). */
export class ReceiverApi extends groupOf(
  "receiver",
  ["Receiver", "A webhook receiver within the sandbox, which can be set to fail"],
  shopEndpoint("GET", "readReceiver", "/receiver", ReceiverView, [
    "Read the built-in receiver",
    "Returns how the receiver responds, and whether it is the shop's webhook."
  ]),
  shopEndpoint("PUT", "setReceiver", "/receiver", ReceiverView, [
    "Set how the built-in receiver behaves",
    "The receiver responds with `answer`. If `times` is given, it responds with `afterwards` after that many events. Both are 200 by default. With `forward_to`, the receiver forwards events to that address, and responds as that address does. With `use`, it becomes the shop's webhook."
  ]).setPayload(ReceiverInput),
  shopEndpoint("GET", "listReceived", "/received", Schema.Array(ReceivedEvent), [
    "List the events that the built-in receiver got",
    "Returns the events oldest first, each with its signature, the text that was signed, and the expected signature."
  ]).setUrlParams(
    Schema.Struct({
      after: countParameter(Number.MAX_SAFE_INTEGER, "Return only entries after the entry with this id")
    })
  )
) {}

/** Handles the endpoints of the built-in receivers. */
export const receiverHandlers = (receivers: Receivers, policy: WebhookAddressPolicy, feed: Feed) =>
  Effect.gen(function* () {
    const shops = yield* Shops
    const webhooks = yield* Webhooks
    receivers.onReceived = (event) => feed.publish("receiver", event)

    const respondWithReceiver = (id: ShopId) =>
      Effect.map(shops.byId(id), ({ webhook }) => {
        const url = receivers.urlOf(id)
        return dataOnly({ url, ...receivers.behaviour(id), in_use: webhook?.url === url })
      })
    const parseAddress = (url: string, allowed: WebhookAddressPolicy) =>
      Either.mapLeft(
        parseWebhookAddress(url, allowed),
        (message) => new InvalidInput({ issues: [{ field: "forward_to", message }] })
      )

    const handlers: GroupHandlers<typeof ReceiverApi, void> = {
      readReceiver: ({ path }) => respondWithReceiver(path.id),
      setReceiver: Effect.fnUntraced(function* ({ path: { id }, payload }) {
        yield* shops.byId(id)
        const { answer, times, afterwards, forward_to, use } = payload
        const forwardAddress = (forward_to ?? null) === null ? null : yield* parseAddress(forward_to!, policy)
        if (forwardAddress !== null && receivers.shopAt(forwardAddress) !== undefined)
          return yield* new InvalidInput({
            issues: [{ field: "forward_to", message: "must not be the address of a built-in receiver" }]
          })
        receivers.setBehaviour(id, {
          answer: answer ?? 200,
          times: times ?? null,
          afterwards: afterwards ?? 200,
          forward_to: forwardAddress
        })
        // The policy does not apply to the built-in receiver's URL, because no request is sent to it over the network.
        if (use === true) yield* webhooks.set(id, receivers.urlOf(id) as never)
        const response = yield* respondWithReceiver(id)
        const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        feed.publish("receiver", { at: toIso(now), shop_id: id, ...response.data })
        return response
      }),
      listReceived: ({ path: { id }, urlParams: { after = 0 } }) =>
        Effect.map(shops.byId(id), () =>
          dataOnly(receivers.received(id, after).map(({ shop_id: _, ...event }) => event))
        )
    }
    return handlers
  })
