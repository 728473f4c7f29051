import type * as Named from "@workshop/client"
import { Schema } from "effect"
import { Limits } from "./Limits.js"

/** An amount in minor units of the shop's currency (Specification, Requests and responses; Tickets). */
export const AmountMinor = Schema.Int.pipe(
  Schema.between(0, Limits.amount_minor_max, {
    message: () => `must be a whole number of minor units from 0 to ${Limits.amount_minor_max}`
  })
)

/** An ISO 4217 currency code. */
export const Currency = Schema.String.pipe(
  Schema.pattern(/^[A-Z]{3}$/, { message: () => "must be a currency code of three capital letters, such as TND" })
)

/** How many decimals the currency has: 3 for TND, 2 for EUR, 0 for JPY. */
export const Decimals = Schema.Int.pipe(Schema.between(0, 4, { message: () => "must be a whole number from 0 to 4" }))

/** How many decimals a currency usually has (ISO 4217). */
export const usualDecimals = (currency: string): number =>
  new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2

/** Whether the platform knows a currency code (ISO 4217). */
export const isKnownCurrency = (currency: string): boolean => Intl.supportedValuesOf("currency").includes(currency)

/** A ticket's money, as responses contain it (Specification, Resources). */
export const Money = Schema.Struct({
  currency: Schema.NullOr(Schema.String),
  decimals: Schema.Int,
  price_minor: Schema.NullOr(Schema.Int),
  deposit_minor: Schema.NullOr(Schema.Int),
  remaining_minor: Schema.NullOr(Schema.Int),
  before_minor: Schema.NullOr(Schema.Int)
}).annotations({
  identifier: "Money",
  description: "Amounts in minor units, with the currency and its number of decimals"
})
export interface Money extends Named.Money {}

/** The amount left to pay: price less deposit, or null without a price; a missing deposit counts as 0 (Specification, Tickets). */
export const computeRemaining = (price_minor: number | null, deposit_minor: number | null): number | null =>
  price_minor === null ? null : price_minor - (deposit_minor ?? 0)

/** Whether a deposit is higher than its price. */
export const depositExceedsPrice = (price_minor: number | null, deposit_minor: number | null): boolean =>
  price_minor !== null && deposit_minor !== null && deposit_minor > price_minor
