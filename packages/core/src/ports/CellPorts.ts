import { Context, type Effect } from "effect"
import type { AuditEntry } from "../domain/AuditEntry.js"
import type { ClientAccount } from "../domain/Client.js"
import type { ClientId, ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { Person } from "../domain/Person.js"
import type { Claim, StorePorts, StoreUnavailable } from "./StorePorts.js"

/** How many turns one claim can give: the turns of the claim made at the millisecond `at` begin with `at * TURNS_PER_CLAIM`. */
export const TURNS_PER_CLAIM = 4_096

/** The place of a delivery in the order of claims, by which those of several cells are compared: by rank, then by turn. */
export interface DeliveryTurn {
  readonly shop_id: ShopId
  /** Its place among those of its shop that can be claimed now. */
  readonly rank: number
  /** When its shop was served last: a number that rises with real time; less than 0 for a shop that never was. */
  readonly turn: number
}

/** What a store does besides its other ports so that it can be one of several cells. */
export class CellAccess extends Context.Tag("@workshop/core/CellAccess")<
  CellAccess,
  {
    /** The deliveries that a claim of `most` would get now, in any order; more of the same cell may follow. */
    readonly turns: (now: Instant, most: number) => Effect.Effect<ReadonlyArray<DeliveryTurn>, StoreUnavailable>
    /** As `Deliveries.claim`. The turns that the shops get are those of a claim at `at`, in milliseconds of real time. */
    readonly claim: (now: Instant, most: number, at: number) => Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>
    /** Puts the copy of an account, or removes it where it is null. Another copy that has the number is out of date, and goes. */
    readonly keepCopy: (id: ClientId, account: ClientAccount | null) => Effect.Effect<void, StoreUnavailable>
    /** Removes the copy of the account, and remembers the person until `PersonalData.endErasure`. */
    readonly beginErasure: (person: Person) => Effect.Effect<void, StoreUnavailable>
    /** At most `limit` audit entries of all shops, by their ids, the greatest first; those whose ids are less than `before`. */
    readonly audit: (before: string | null, limit: number) => Effect.Effect<ReadonlyArray<AuditEntry>, StoreUnavailable>
  }
>() {}

/** A complete store that keeps some of the shops. */
export interface Cell {
  /** The directory knows the cell by this name. */
  readonly name: string
  readonly ports: Context.Context<StorePorts | CellAccess>
}

/** An account whose copies in some cells are not what the account is now. */
export interface StaleCopies {
  readonly client_id: ClientId
  /** As it is now; null where it was erased. */
  readonly account: ClientAccount | null
  /** The cells, and the number of the change that each still lacks. */
  readonly lacking: ReadonlyArray<{ readonly cell: string; readonly n: number }>
}

/** Which cell a shop and a key are in, and which copies of accounts are out of date. The home cell keeps it beside its own data. */
export interface CellDirectory {
  /** The cell that a shop was placed in; null for a shop that was not placed, which is in the home cell if it is anywhere. */
  readonly cellOfShop: (shop_id: ShopId) => Effect.Effect<string | null, StoreUnavailable>
  /** Places a new shop for good, in the cell of these that has the fewest; a shop that was placed stays where it is. */
  readonly place: (shop_id: ShopId, among: ReadonlyArray<string>) => Effect.Effect<string, StoreUnavailable>
  /** The cell of the key with this hash; null for a key of the home cell, or of none. */
  readonly cellOfKey: (hash: string) => Effect.Effect<string | null, StoreUnavailable>
  readonly putKey: (hash: string, cell: string) => Effect.Effect<void, StoreUnavailable>
  /** Accounts that were changed, the earliest change first: the given one, or some of all. */
  readonly stale: (client_id: ClientId | null) => Effect.Effect<ReadonlyArray<StaleCopies>, StoreUnavailable>
  /** Notes that the copy in a cell is as of the change `n`; false where the account was changed again since. */
  readonly copied: (client_id: ClientId, cell: string, n: number) => Effect.Effect<boolean, StoreUnavailable>
}
