import { Schema } from "effect"
import { type Command, withAuthor } from "../decisions/Command.js"
import { Scope, scopePresets } from "../domain/ApiKey.js"
import { CallerId, ShopId } from "../domain/Identifier.js"
import type { LimitsByPolicy } from "../domain/Limits.js"

/**
 * The caller of a service. Idempotency keys and the limits on stamps are kept for each `caller_id`, and a ticket's
 * history names it. An API key has its own `caller_id`; an embedder with its own authentication gives each caller an
 * id, which is any text of up to 80 characters. Services trust the caller, because the HTTP API checks flags, scopes
 * and request limits before it calls them.
 *
 * The limits of a shop, client or ticket neither refuse nor count an `uncounted` caller, so that an embedder's own work
 * does not use them up. Callers are counted by default, because the specification counts the app and the API together
 * (Specification, Limits).
 */
export const Caller = Schema.Struct({
  shop_id: ShopId,
  caller_id: CallerId,
  scopes: Schema.Array(Scope),
  /** Whether tickets are created as the shop's app or through the API. */
  via: Schema.Literal("app", "api"),
  /** Whether tickets, look-ups, stamps, moves and notifications count against no limit; false by default. */
  uncounted: Schema.optionalWith(Schema.Boolean, { exact: true })
}).annotations({ identifier: "Caller" })
/** A caller that {@link Caller} has checked. */
// This is an interface, so that editors and errors show its name.
export interface Caller extends Schema.Schema.Type<typeof Caller> {}

/** The limits that apply to a caller; null if none does. */
export const callerLimits = ({ uncounted = false }: Caller, limits: LimitsByPolicy): LimitsByPolicy | null =>
  uncounted ? null : limits

/** The command with the caller as its author, for the histories of its tickets. */
export const asCaller = <A, E>({ caller_id }: Caller, command: Command<A, E>): Command<A, E> =>
  withAuthor({ by: "caller", caller_id }, command)

/**
 * A shop's own app as a caller. It has no key, so its `caller_id` is the shop's id, which no other caller has.
 */
export const appCaller = (shop_id: ShopId): Caller => ({
  shop_id,
  caller_id: `${shop_id}` as CallerId,
  scopes: scopePresets.full,
  via: "app"
})
