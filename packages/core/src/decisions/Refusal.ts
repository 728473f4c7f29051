import type { KeyNotFound, TooManyKeys } from "../domain/ApiKey.js"
import type { ClientNotFound } from "../domain/Client.js"
import type { ForbiddenWord } from "../domain/ForbiddenWord.js"
import type { InvalidInput } from "../domain/InvalidInput.js"
import type { LimitReached } from "../domain/LimitWindow.js"
import type { LoyaltyOff, NoReward } from "../domain/LoyaltyCard.js"
import type { OfferClosed, OfferNotFound } from "../domain/Offer.js"
import type { ShopNotFound } from "../domain/Shop.js"
import type { QuoteClosed, TicketNotFound } from "../domain/Ticket.js"
import type { MoveRefusal } from "../domain/TicketLifecycle.js"
import type { WebhookNotSet } from "../domain/Webhook.js"
import type { IdempotencyKeyReused } from "./Idempotency.js"

/** Every refusal of the service. Each is defined in the module of its rule. */
export type Refusal =
  | ClientNotFound
  | ForbiddenWord
  | IdempotencyKeyReused
  | InvalidInput
  | KeyNotFound
  | LimitReached
  | LoyaltyOff
  | MoveRefusal
  | NoReward
  | OfferClosed
  | OfferNotFound
  | QuoteClosed
  | ShopNotFound
  | TicketNotFound
  | TooManyKeys
  | WebhookNotSet
