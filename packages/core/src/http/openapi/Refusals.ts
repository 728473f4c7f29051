import { IdempotencyKeyReused } from "../../decisions/Idempotency.js"
import { KeyNotFound, type Scope, TooManyKeys } from "../../domain/ApiKey.js"
import { ClientNotFound } from "../../domain/Client.js"
import { ForbiddenWord } from "../../domain/ForbiddenWord.js"
import { InvalidInput } from "../../domain/InvalidInput.js"
import { Policies, type PolicyName } from "../../domain/Limits.js"
import { LimitReached } from "../../domain/LimitWindow.js"
import { LoyaltyOff, NoReward } from "../../domain/LoyaltyCard.js"
import { OfferClosed, OfferNotFound } from "../../domain/Offer.js"
import { ShopNotFound } from "../../domain/Shop.js"
import { QuoteClosed, TicketNotFound } from "../../domain/Ticket.js"
import {
  InvalidTransition,
  ReopenWindowPassed,
  SameState,
  TicketAbandoned,
  type TicketState
} from "../../domain/TicketLifecycle.js"
import { WebhookNotSet } from "../../domain/Webhook.js"
import { StoreUnavailable } from "../../ports/StorePorts.js"
import { WorkshopStopped } from "../../services/WorkshopStopped.js"
import { type FailureBody, failureStatusAndBody } from "../Envelope.js"
import type { Failure, RequestIssue } from "../ErrorTable.js"

/** An example of a refusal, and its cause. The document contains the service's real response to it. */
interface Sample {
  readonly when: string
  readonly refusal: Failure
}

const presentOf = (state: TicketState) => ({ state, updated_at: Date.UTC(2026, 10, 21, 16, 40, 30, 8) })

/** One sample for each refusal, by its name in the document. */
export const refusalSamples = {
  unauthenticated: { when: "The key is missing, wrong, revoked or expired", refusal: { _tag: "Unauthenticated" } },
  account_deactivated: { when: "The shop is deactivated", refusal: { _tag: "AccountDeactivated" } },
  shop_not_approved: { when: "The shop is not approved yet", refusal: { _tag: "ShopNotApproved" } },
  api_disabled: { when: "The API is not switched on for the shop", refusal: { _tag: "ApiDisabled" } },
  unknown_route: { when: "No endpoint has this path and method", refusal: { _tag: "RouteNotFound" } },
  ticket_not_found: { when: "The shop has no ticket with this id", refusal: new TicketNotFound() },
  client_not_found: {
    when: "The shop does not know the client, or the client blocks the shop",
    refusal: new ClientNotFound()
  },
  same_state: {
    when: "The ticket is already in that state",
    refusal: new SameState({ ...presentOf("ready"), from: "ready", to: "ready", allowed: ["collected", "workshop"] })
  },
  invalid_transition: {
    when: "The table of moves does not allow this move from the ticket's state",
    refusal: new InvalidTransition({
      ...presentOf("workshop"),
      from: "workshop",
      to: "collected",
      allowed: ["ready", "impossible"]
    })
  },
  reopen_window: {
    when: "The ticket was collected too long ago to be reopened",
    refusal: new ReopenWindowPassed({ ...presentOf("collected"), from: "collected", to: "workshop", allowed: [] })
  },
  abandoned_move: {
    when: "The service has closed the ticket",
    refusal: new TicketAbandoned({ ...presentOf("abandoned"), from: "abandoned", to: "ready", allowed: [] })
  },
  abandoned: { when: "The service closed the ticket", refusal: new TicketAbandoned(presentOf("abandoned")) },
  idempotency_key_reused: {
    when: "The Idempotency-Key was already used for another request",
    refusal: new IdempotencyKeyReused()
  },
  loyalty_off: { when: "The shop's loyalty programme is off", refusal: new LoyaltyOff() },
  no_reward: {
    when: "The card has too few stamps for a reward",
    refusal: new NoReward({ balance: 7, stamps_required: 10 })
  },
  forbidden_word: { when: "A text contains a forbidden word", refusal: new ForbiddenWord({ field: "items.1.label" }) },
  store_unavailable: {
    when: "The store cannot be reached, all clients of its pool or of your pool were in use, or another transaction held a lock for too long",
    refusal: new StoreUnavailable({})
  },
  workshop_stopped: { when: "A call after `stop()` of the workshop", refusal: new WorkshopStopped() },
  invalid_input: {
    when: "A value that the shop's data does not allow",
    refusal: new InvalidInput({
      issues: [{ field: "price_minor", message: "must not be less than the ticket's deposit" }]
    })
  },
  offer_not_found: { when: "No offer has this id", refusal: new OfferNotFound() },
  shop_not_found: { when: "No shop has this id", refusal: new ShopNotFound() },
  key_not_found: { when: "No API key has this id", refusal: new KeyNotFound() },
  webhook_not_set: { when: "The shop has no webhook", refusal: new WebhookNotSet() },
  too_many_keys: { when: "The shop already has five active API keys", refusal: new TooManyKeys() },
  offer_closed: { when: "The offer was already answered", refusal: new OfferClosed() },
  quote_closed: {
    when: "The ticket has no proposed price to answer",
    refusal: new QuoteClosed({ ...presentOf("workshop"), status: "accepted" })
  }
} as const satisfies Record<string, Sample>

/** The name of a sample. */
export type RefusalName = keyof typeof refusalSamples

/** An example of an error in the document. */
export interface ErrorExample {
  readonly summary: string
  readonly value: FailureBody
}

const makeErrorExample = (when: string, refusal: Failure, part: RequestIssue["in"] = "body"): ErrorExample => ({
  summary: when,
  value: failureStatusAndBody(refusal, part).body
})

/** The response to a refusal. */
export const refusalExample = (name: RefusalName): ErrorExample =>
  makeErrorExample(refusalSamples[name].when, refusalSamples[name].refusal)

/** The response to an invalid request. */
export const issuesExample = (issues: ReadonlyArray<RequestIssue>): ErrorExample =>
  makeErrorExample("All problems of the request", { _tag: "InvalidRequest", issues })

/** The response to a key without the needed scope. */
export const scopeExample = (scope: Scope): ErrorExample =>
  makeErrorExample("The key lacks a scope", { _tag: "ScopeMissing", scope })

/** The response if a limit is used up. */
export const limitExample = (policy: PolicyName): ErrorExample => {
  const { limit, counts, per } = Policies[policy]
  const limitStatus = { policy, limit, remaining: 0, resets_at: 0 }
  return makeErrorExample(
    `${limit} ${counts}, per ${per}`,
    new LimitReached({ limitStatuses: [limitStatus], refused_at: 0 })
  )
}
