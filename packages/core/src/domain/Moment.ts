import type { Instant } from "./Instant.js"

/**
 * The outside data that a decision gets: the instant at which it is taken, and random bytes drawn beforehand.
 * The same moment always yields the same identifiers, so a decision stays a pure function.
 */
export interface Moment {
  /** The time of the process's clock. Dues and windows follow it, so a clock that was corrected delays and stretches nothing. */
  readonly now: Instant
  readonly entropy: Uint8Array
  /** The beginning of `tracking_url` in shops without a page of their own; see `TrackingPages`. */
  readonly tracking_base_url?: string | null
}

/** A moment as a decision of a shop sees it. */
export interface ShopMoment extends Moment {
  /**
   * The instant in `created_at`, `updated_at` and identifiers: `now`, or the instant of the shop's latest command where that is
   * later. So they never go back along a shop, although a clock may (Specification, Lists and sync).
   */
  readonly recorded_at: Instant
}

/** Identifiers that the millisecond of a moment has room for. */
export const IDENTIFIERS_PER_MS = 4096

/** Bytes of a moment's entropy, the first ones, that its identifiers take. */
export const IDENTIFIER_BYTES = 8

/** Where the bytes of the one identifier begin that grants something. */
const GRANT_AT = IDENTIFIER_BYTES

/** Where the bytes of a tracking code begin. */
export const TRACKING_CODE_AT = GRANT_AT + IDENTIFIER_BYTES

/** Bytes of entropy a moment holds: those of its identifiers, of the one that grants something, and five for a tracking code. */
export const ENTROPY_BYTES = TRACKING_CODE_AT + 5

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** The last one that a moment has. Decisions make far fewer; the audit log takes it for its own line. */
export const LAST_IDENTIFIER = 0xfff

/**
 * The `n`th identifier of a moment: a UUID of version 7 whose twelve bits after the version count `n`,
 * so the identifiers of one command sort in the order in which it made them (Specification, Tickets).
 */
export const identifier = <Id extends string>(moment: Moment, n: number): Id => {
  if (moment !== last.moment) last = { moment, ...around(moment) }
  return `${last.before}${n.toString(16).padStart(3, "0")}${last.after}` as Id
}

/**
 * An identifier by which somebody is granted something, such as an offer's. All others of a decision follow from each other, as
 * they differ in their count alone; this one has random bytes of its own, so it follows from none. One a decision.
 */
export const grantIdentifier = <Id extends string>({ now, entropy }: Moment, n: number): Id => {
  const { before, after } = around({ now, entropy: entropy.subarray(GRANT_AT) })
  return `${before}${n.toString(16).padStart(3, "0")}${after}` as Id
}

/** The parts that all identifiers of a moment share, before and after the count. */
const around = ({ now, entropy: e }: Moment) => {
  const time = Math.max(0, now).toString(16).padStart(12, "0")
  const variant = hex[(e[0]! & 0x3f) | 0x80]!
  const node = hex[e[2]!]! + hex[e[3]!]! + hex[e[4]!]! + hex[e[5]!]! + hex[e[6]!]! + hex[e[7]!]!
  return { before: `${time.slice(0, 8)}-${time.slice(8)}-7`, after: `-${variant}${hex[e[1]!]!}-${node}` }
}

// Kept, as one decision makes several identifiers, one right after another.
let last: { readonly moment: Moment | null; readonly before: string; readonly after: string } = {
  moment: null,
  before: "",
  after: ""
}
