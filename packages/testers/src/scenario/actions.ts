import { durationMs, toIso } from "@workshop/core/internal"
import { faultKinds } from "@workshop/http-node/internal"
import { Effect, Schema } from "effect"
import { type CallName, calls, requestOf } from "../testkit/Calls.js"
import {
  type Action,
  Anything,
  EmptyBody,
  idOf,
  objectWithSubject,
  openObject,
  optionalField,
  PhoneText,
  ReferenceText,
  requireSuccess,
  type StepContext,
  stepData,
  zoneOf
} from "./Action.js"
import { type ExpectedFields, fieldOf } from "./Expectation.js"
import { observations } from "./observations.js"
import type { StepExchange } from "./Report.js"
import { requestFieldsOf } from "./ResponseShape.js"
import {
  behaviourOf,
  DurationText,
  nextTimeOfDay,
  RECEIVER_WORDS,
  ReceiverText,
  ReferenceUnknown,
  TIME_OF_DAY
} from "./references.js"

const queryOf = (fields: ExpectedFields): string => {
  const query = new URLSearchParams(
    Object.entries(fields).map(([field, value]): [string, string] => [field, String(value)])
  ).toString()
  return query === "" ? "" : `?${query}`
}

/** Sends a call for the resource with this id. The fields are the query of a `GET`, otherwise the body. */
const send = (name: CallName, context: StepContext, id: string, fields: ExpectedFields = {}) => {
  const { method, path } = requestOf(name, id)
  const body = method === "GET" || method === "DELETE" ? undefined : fields
  if (path.startsWith("/sandbox")) return context.askSandbox(method, path, body)
  const idempotencyKey = REPEATABLE.has(name) ? context.idempotencyKey : null
  const query = method === "GET" ? queryOf(fields) : ""
  return context.send(method, path + query, { bearer: context.key, idempotencyKey, body })
}

/** The calls that are sent with an Idempotency-Key. */
const REPEATABLE: ReadonlySet<CallName> = new Set(["create ticket", "add stamps", "redeem reward"])

const makeAction = (
  name: CallName,
  description: string,
  takes: Schema.Schema.AnyNoContext,
  perform: (argument: never, context: StepContext) => ReturnType<Action["perform"]>
): Action => {
  const [actor, endpoint] = calls[name]
  const repeatable = REPEATABLE.has(name) ? { isRepeatable: true as const } : {}
  return { name, actor, endpoint, description, takes, ...repeatable, perform }
}

/** Makes an action whose fields are the fields of its request. A call of the sandbox is for the shop. */
const fieldsAction = (name: CallName, description: string): Action =>
  makeAction(name, description, openObject(...requestFieldsOf(calls[name][1])), (fields: ExpectedFields, context) =>
    send(name, context, context.shop.id, fields)
  )

/** Makes an action without an argument. A call of the sandbox is for the shop. */
const plainAction = (name: CallName, description: string): Action =>
  makeAction(name, description, EmptyBody, (_, context) => send(name, context, context.shop.id))

/** Makes an action on the resource that its argument refers to. */
const resourceAction = (name: CallName, description: string): Action =>
  makeAction(name, description, ReferenceText, (subject, context) =>
    Effect.flatMap(idOf(subject), (id) => send(name, context, id))
  )

/**
 * Makes an action on the resource that one of its fields refers to. The other fields are sent as the request's fields.
 */
const subjectAction = (name: CallName, description: string, subject: string): Action =>
  makeAction(
    name,
    description,
    objectWithSubject(subject, ...requestFieldsOf(calls[name][1])),
    ({ [subject]: thing, ...fields }: ExpectedFields, context) =>
      Effect.flatMap(idOf(thing), (id) => send(name, context, id, fields))
  )

const TicketNumberText = Schema.Union(Schema.Int, Schema.String).annotations({
  message: () => "must be a ticket's number"
})

const Request = Schema.Struct({
  method: Schema.String,
  path: Schema.String,
  query: optionalField(openObject()),
  headers: optionalField(Schema.Record({ key: Schema.String, value: Schema.NullOr(Schema.String) })),
  body: optionalField(Anything)
})

const sendRawRequest = (
  { method, path, query = {}, headers = {}, body }: typeof Request.Type,
  { send, key }: StepContext
) => {
  if (!path.startsWith("/"))
    return Effect.fail(new ReferenceUnknown({ message: "the path must start with a slash, such as /v1/tickets" }))
  const headerEntries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const bearer = headerEntries.some(([name]) => name === "authorization") ? null : key
  const sentHeaders = Object.fromEntries(
    headerEntries.filter((header): header is [string, string] => header[1] !== null)
  )
  return send(method, path + queryOf(query), { bearer, headers: sentHeaders, body })
}

/** Actions of the shop's own system through the API, with one of the shop's keys (Specification, Endpoints). */
const systemActions: ReadonlyArray<Action> = [
  fieldsAction("create ticket", "Creates a ticket: POST /v1/tickets"),
  resourceAction("get ticket", "Reads a ticket: GET /v1/tickets/{id}"),
  fieldsAction("list tickets", "Lists tickets: GET /v1/tickets"),
  makeAction(
    "get ticket by number",
    "Reads a ticket by its number: GET /v1/tickets/by-number/{n}",
    TicketNumberText,
    (n, context) => send("get ticket by number", context, String(n))
  ),
  subjectAction("set status", "Moves a ticket to another state: POST /v1/tickets/{id}/status", "ticket"),
  subjectAction("notified", "Records that the shop notified the client: POST /v1/tickets/{id}/notified", "ticket"),
  makeAction("find client", "Finds a client by phone number: GET /v1/clients", PhoneText, (phone, context) =>
    send("find client", context, "", { phone })
  ),
  resourceAction("get client", "Reads a client: GET /v1/clients/{id}"),
  resourceAction("get loyalty", "Reads a client's loyalty card: GET /v1/clients/{id}/loyalty"),
  subjectAction("add stamps", "Adds stamps to a card: POST /v1/clients/{id}/loyalty/stamps", "client"),
  resourceAction("redeem reward", "Uses a reward: POST /v1/clients/{id}/loyalty/redeem"),
  plainAction("get shop", "Reads the shop behind the key: GET /v1/shop"),
  {
    name: "request",
    actor: "system",
    description: "Sends any request unchanged. The API key is added unless `headers` has an Authorization",
    takes: Request,
    perform: sendRawRequest
  }
]

/** Actions of the shop in its app (Specification, Sandbox). */
const appActions: ReadonlyArray<Action> = [
  fieldsAction("create in app", "Creates a ticket in the app"),
  subjectAction("edit ticket", "Changes the fields of a ticket; items_done marks items as done by their id", "ticket"),
  subjectAction("propose quote", "Proposes a new price to the client", "ticket"),
  subjectAction("announce delay", "Postpones the promised date of a ticket", "ticket"),
  subjectAction("record part", "Records that a part was ordered or received", "ticket"),
  subjectAction("attach photo", "Attaches a photo to the ticket", "ticket")
]

const trustSecret = ({ trust }: StepContext, rotated: StepExchange) => {
  const secret = fieldOf(stepData(rotated), "secret")
  return typeof secret === "string" ? trust(secret) : Effect.void
}

/** Actions of the shop's owner on the shop, its keys and its webhook (Specification, Sandbox). */
const ownerActions: ReadonlyArray<Action> = [
  fieldsAction("change shop", `Changes the shop's settings: ${requestFieldsOf(calls["change shop"][1]).join(", ")}`),
  fieldsAction("create key", "Creates an API key with a name, and with scopes or the preset full or read"),
  plainAction("list keys", "Lists the shop's keys"),
  resourceAction("revoke key", "Revokes a key"),
  makeAction(
    "set webhook",
    "Sets the webhook's address. If a shop has `webhook` under `given`, its webhook already has the address of the shop's receiver",
    Schema.Struct({ url: Schema.String }),
    (body: ExpectedFields, context) => send("set webhook", context, context.shop.id, body)
  ),
  plainAction("get webhook", "Reads whether the webhook is on, and its number of consecutive failures"),
  makeAction(
    "rotate secret",
    "Replaces the webhook's secret, and gives the new secret to the shop's receiver",
    EmptyBody,
    (_, context) =>
      Effect.tap(send("rotate secret", context, context.shop.id), (rotated) => trustSecret(context, rotated))
  ),
  plainAction("enable webhook", "Turns the webhook on again"),
  plainAction("disable webhook", "Turns the webhook off. Events then wait until the webhook is on again"),
  plainAction("remove webhook", "Removes the webhook with its secrets and all waiting deliveries"),
  plainAction("ping", "Sends a ping, as the app's test button does"),
  fieldsAction(
    "replay events",
    "Sends the events of event_ids, or those chosen by since, until and state, again. dry_run counts them without sending"
  )
]

const OfferChoice = Schema.Struct({ client: ReferenceText, ticket: optionalField(ReferenceText) })

interface Offer {
  readonly id: string
  readonly ticket_id: string
  readonly status: string
}

/**
 * Chooses the offer that a client answers: the offer of a named ticket in any state, otherwise the newest open offer.
 */
const chooseOffer = Effect.fnUntraced(function* ({ client, ticket }: typeof OfferChoice.Type, context: StepContext) {
  const id = yield* idOf(client)
  const list = yield* requireSuccess(send("get offers", context, id), "the client's offers")
  const offers = (stepData(list) ?? []) as ReadonlyArray<Offer>
  const ticket_id = ticket === undefined ? null : yield* idOf(ticket)
  const offer = offers.findLast((offer) =>
    ticket_id === null ? offer.status === "open" : offer.ticket_id === ticket_id
  )
  if (offer !== undefined) return offer.id
  const message = ticket_id === null ? "the client has no open offer" : "the ticket was never offered to the client"
  return yield* new ReferenceUnknown({ message })
})

const answerAction = (name: CallName, description: string): Action =>
  makeAction(name, description, OfferChoice, (choice: typeof OfferChoice.Type, context) =>
    Effect.flatMap(chooseOffer(choice, context), (id) => send(name, context, id))
  )

/** Actions of clients: they visit the shop, answer offers and prices, and read their inbox (Specification, Sandbox). */
const clientActions: ReadonlyArray<Action> = [
  makeAction(
    "visit",
    "The client visits the shop's counter, so that the shop knows the client from then on",
    ReferenceText,
    (client, context) => Effect.flatMap(idOf(client), (id) => send("visit", context, id, { shop_id: context.shop.id }))
  ),
  answerAction("accept offer", "The client accepts the newest open offer, or the offer of the named ticket"),
  answerAction(
    "block shop",
    "The client answers the newest open offer, or the offer of the named ticket, by blocking the shop"
  ),
  resourceAction("get offers", "Lists the tickets that were offered to the client"),
  resourceAction("get inbox", "Lists the client's notifications in the app"),
  resourceAction("accept quote", "The client accepts the price proposed for a ticket"),
  resourceAction("refuse quote", "The client refuses the price proposed for a ticket")
]

const emptySuccess: StepExchange = {
  call: { method: "", path: "" },
  status: 200,
  headers: {},
  body: { success: true, data: {} }
}

const moveAction = (
  name: string,
  description: string,
  takes: Schema.Schema.AnyNoContext,
  moveOf: (argument: never) => ExpectedFields
): Action => ({
  name,
  actor: "clock",
  endpoint: "POST /sandbox/clock",
  description,
  takes,
  perform: (argument, { moveClock }) => moveClock(moveOf(argument))
})

const kinds = Object.keys(faultKinds)

/** A kind of fault. 503 and 429 are numbers in YAML. */
const FaultText = Schema.Union(
  Schema.Literal(...(kinds as [string, ...Array<string>])),
  Schema.Literal(503, 429)
).annotations({
  message: () => `must be one of ${kinds.join(", ")}`
})

const FaultsText = Schema.Array(
  Schema.Struct({
    fault: FaultText,
    method: optionalField(Schema.Literal("GET", "POST")),
    path: optionalField(Schema.String),
    next: optionalField(Schema.Int),
    delay_ms: optionalField(Schema.Int)
  })
)

/** Actions of the tester, who sets faults (Specification, Sandbox). */
const testerActions: ReadonlyArray<Action> = [
  makeAction(
    "set faults",
    "Replaces the faults that requests to /v1 get from now on. Each has a fault, and optionally the method and path of the requests that get it, and how many of the next requests do (next)",
    FaultsText,
    (asked: typeof FaultsText.Type, context) => {
      const { method, path } = requestOf("set faults")
      const faults = asked.map(({ fault, ...rest }) => ({ ...rest, fault: String(fault) }))
      return context.askSandbox(method, path, { faults })
    }
  ),
  plainAction("clear faults", "Removes all faults")
]

/** Actions of the receiver of webhooks and of the clock (Specification, Sandbox). */
const machineActions: ReadonlyArray<Action> = [
  {
    name: "receiver",
    actor: "receiver",
    description: `Sets how the shop's receiver responds from now on: with a status, or one of ${RECEIVER_WORDS.join(", ")}`,
    takes: ReceiverText,
    perform: (text: ReceiverText, context) =>
      Effect.gen(function* () {
        // The service first sends the deliveries that are due, because the new behaviour must not apply to them.
        yield* context.moveClock({ advance_ms: 0 })
        yield* (yield* context.receiver).setBehaviour(behaviourOf(text))
        return emptySuccess
      })
  },
  moveAction(
    "advance",
    "Moves the clock forward. Everything that is due by then happens at the instant at which it is due",
    DurationText,
    (length: string) => ({ advance_ms: durationMs(length) ?? 0 })
  ),
  {
    name: "set clock",
    actor: "clock",
    endpoint: "POST /sandbox/clock",
    description: `Moves the clock forward to an instant, such as $ticket.ready_at + 60d, or to the next occurrence of a time of day in the shop's time zone, such as 23:59:59.999`,
    takes: Schema.String,
    perform: (text: string, context) => {
      if (!TIME_OF_DAY.test(text)) return context.moveClock({ set: text })
      const nextInstantIn = (zone: string) => toIso(nextTimeOfDay(text, zone, Date.parse(context.names.now)))
      return Effect.flatMap(zoneOf(context), (zone) => context.moveClock({ set: nextInstantIn(zone) }))
    }
  },
  moveAction(
    "freeze clock",
    "true stops the clock, as at the start of a scenario. With --base-url, false lets the clock follow the real time",
    Schema.Boolean,
    (freeze) => ({ freeze })
  )
]

/** All actions by name. */
export const actions: ReadonlyMap<string, Action> = new Map(
  [systemActions, appActions, ownerActions, clientActions, testerActions, machineActions]
    .flat()
    .map((action) => [action.name, action])
)

/** The names of all actions and observations. */
export const stepNames: ReadonlyArray<string> = [...actions.keys(), ...observations.keys()]
