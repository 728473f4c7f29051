import { Schema } from "effect"
import { type Command, withAuthor } from "../decisions/Command.js"
import { Scope, scopePresets } from "../domain/ApiKey.js"
import { CallerId, ShopId } from "../domain/Identifier.js"
import type { LimitsByPolicy } from "../domain/Limits.js"

/**
 * On whose behalf a service is called. `caller_id` stands for the API key in idempotency and stamp limits, so an
 * embedder with its own authentication gives each of its callers an id, which is any text of up to 80 characters. A ticket's history names it. Services trust a caller: flags, scopes
 * and request limits are checked where a request is admitted.
 *
 * The limits of a shop, client or ticket do not refuse an `uncounted` caller, whose acts use up nothing of them, so that an embedder's own
 * work leaves the others their share. Calls are counted unless they say so, because the specification counts app and API together
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
// An interface, so that editors and errors show this name.
export interface Caller extends Schema.Schema.Type<typeof Caller> {}

/** The limits that bind a caller; null if none does. */
export const callerLimits = ({ uncounted = false }: Caller, limits: LimitsByPolicy): LimitsByPolicy | null =>
  uncounted ? null : limits

/** A command that a caller asks for, so that the histories of its tickets name them. */
export const asCaller = <A, E>({ caller_id }: Caller, command: Command<A, E>): Command<A, E> =>
  withAuthor({ by: "caller", caller_id }, command)

/**
 * A shop's own app as a caller. It has no key, so the shop's id takes its place, and its idempotency keys collide with no other caller's.
 */
export const appCaller = (shop_id: ShopId): Caller => ({
  shop_id,
  caller_id: `${shop_id}` as CallerId,
  scopes: scopePresets.full,
  via: "app"
})
