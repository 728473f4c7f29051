import { Context, type Effect } from "effect"
import type { AuditEntry } from "../domain/AuditEntry.js"
import type { ClientAccount } from "../domain/Client.js"
import type { ClientId, ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { Person } from "../domain/Person.js"
import type { Claim, StorePorts, StoreUnavailable } from "./StorePorts.js"

/** The maximum number of turns of one claim. The turns of the claim `number` begin with `number * TURNS_PER_CLAIM`. */
export const TURNS_PER_CLAIM = 4_096

/** A delivery's position in the order of claims: by rank, then by turn. It orders the deliveries of several cells. */
export interface DeliveryTurn {
  /** The shop of the delivery. */
  readonly shop_id: ShopId
  /** Its position among its shop's deliveries that can be claimed now. */
  readonly rank: number
  /**
   * The order in which its shop was last served: a number that increases with each claim, and is below 0 if the shop
   * was never served.
   */
  readonly turn: number
}

/** Claims that were made together, with their number. Later claims of the same store have greater numbers, whichever process makes them. */
export interface NumberedClaims {
  /** The number of these claims in the store's order of claims. */
  readonly number: number
  /** The claimed deliveries; empty if none was due. */
  readonly claims: ReadonlyArray<Claim>
}

/** The methods that a store needs in addition to its other ports to be one of several cells. */
export class CellAccess extends Context.Tag("@workshop/core/CellAccess")<
  CellAccess,
  {
    /**
     * Succeeds if the store responds and is the cell that the directory has under its name. Fails if the store is a
     * different cell, is empty, or has an older schema. A store that was unavailable is used again only after this
     * check has succeeded.
     */
    readonly confirm: Effect.Effect<void, StoreUnavailable>
    /** The deliveries that a claim of `max` deliveries would get now, in any order. The cell may have more. */
    readonly turns: (now: Instant, max: number) => Effect.Effect<ReadonlyArray<DeliveryTurn>, StoreUnavailable>
    /** Like `Deliveries.claim`, with the number of the claim. */
    readonly claim: (now: Instant, max: number) => Effect.Effect<NumberedClaims, StoreUnavailable>
    /**
     * Saves the copy of an account, or deletes it for null. If another copy has the same number, that copy is out of date and is deleted.
     */
    readonly keepCopy: (id: ClientId, account: ClientAccount | null) => Effect.Effect<void, StoreUnavailable>
    /** Deletes the copy of the account, and stores the person until `PersonalData.endErasure`. */
    readonly beginErasure: (person: Person) => Effect.Effect<void, StoreUnavailable>
    /** At most `limit` audit entries of all shops whose ids are less than `before`, by descending id. */
    readonly audit: (before: string | null, limit: number) => Effect.Effect<ReadonlyArray<AuditEntry>, StoreUnavailable>
  }
>() {}

/** A complete store with the data of some of the shops. */
export interface Cell {
  /** The name of the cell in the directory. */
  readonly name: string
  /** The ports of the cell, with the access that {@link cellPorts} needs to combine cells. */
  readonly ports: Context.Context<StorePorts | CellAccess>
}

/** An account whose copies in some cells are out of date. */
export interface StaleCopies {
  /** The client whose account has such copies. */
  readonly client_id: ClientId
  /** The current account; null if it was erased. */
  readonly account: ClientAccount | null
  /** For each cell whose copy is out of date, the number of the change that it lacks. */
  readonly lacking: ReadonlyArray<{ readonly cell: string; readonly change_number: number }>
}

/**
 * Records the cell of each shop and key, and the copies of accounts that are out of date. The home cell stores these
 * records.
 */
export interface CellDirectory {
  /** The recorded cell of a shop; null for a shop without a record, which can only be in the home cell. */
  readonly cellOfShop: (shop_id: ShopId) => Effect.Effect<string | null, StoreUnavailable>
  /**
   * Records permanently, for a new shop, the cell with the fewest shops among these. A recorded cell does not change.
   */
  readonly place: (shop_id: ShopId, among: ReadonlyArray<string>) => Effect.Effect<string, StoreUnavailable>
  /** The names of all cells, including the home cell; empty before a second cell was added. */
  readonly names: Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
  /** Whether the cell of any shop is recorded. */
  readonly hasPlaced: Effect.Effect<boolean, StoreUnavailable>
  /** The cell of the key with this hash; null for a key of the home cell, and for an unknown key. */
  readonly cellOfKey: (hash: string) => Effect.Effect<string | null, StoreUnavailable>
  /** Records the cell of the key with this hash. */
  readonly putKey: (hash: string, cell: string) => Effect.Effect<void, StoreUnavailable>
  /** Accounts with copies that are out of date, the earliest change first: the given account, or a batch of all accounts for null. */
  readonly stale: (client_id: ClientId | null) => Effect.Effect<ReadonlyArray<StaleCopies>, StoreUnavailable>
  /** Records that the copy in a cell has a change. Returns false if the account was changed again since. */
  readonly copied: (
    client_id: ClientId,
    cell: string,
    change_number: number
  ) => Effect.Effect<boolean, StoreUnavailable>
}
