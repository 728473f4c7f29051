import type { Instant } from "./Instant.js"
import type { ChangeAuthor } from "./TicketChange.js"

/**
 * The external data of a decision: its instant, and random bytes that were drawn beforehand. The same moment always yields the same
 * identifiers, so a decision stays a pure function.
 */
export interface Moment {
  /** The time of the process's clock. Scheduled times and windows follow it, so correcting a clock delays nothing. */
  readonly now: Instant
  /** Random bytes for identifiers and codes, {@link ENTROPY_BYTES} of them. */
  readonly entropy: Uint8Array
  /** The beginning of `tracking_url` in shops without a `tracking_base_url`; see `TrackingPages`. */
  readonly tracking_base_url?: string | null
}

/** A moment with the recorded instant of the shop and the author of the command. */
export interface ShopMoment extends Moment {
  /**
   * The instant in `created_at`, `updated_at` and identifiers: `now`, or the instant of the shop's latest command if
   * that is later. These instants therefore never go back within a shop, even if a clock does (Specification, Lists and
   * sync).
   */
  readonly recorded_at: Instant
  /** The author of the command, for the histories of tickets; the service itself if it is absent. */
  readonly author?: ChangeAuthor
}

/** The maximum number of identifiers of one millisecond. */
export const IDENTIFIERS_PER_MS = 4096

/** The first bytes of a moment's entropy, which its identifiers use. */
export const IDENTIFIER_BYTES = 8

/** The first byte of the identifier that grants access. */
const GRANT_AT = IDENTIFIER_BYTES

/** The first byte of a tracking code. */
export const TRACKING_CODE_AT = GRANT_AT + IDENTIFIER_BYTES

/** The length of a moment's entropy: the bytes of its identifiers, of the one that grants access, and five for a tracking code. */
export const ENTROPY_BYTES = TRACKING_CODE_AT + 5

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** The last identifier of a moment. Decisions make far fewer; the audit log uses the last one for its entry. */
export const LAST_IDENTIFIER = 0xfff

/**
 * The `n`th identifier of a moment: a UUID of version 7 whose twelve bits after the version are `n`, so the identifiers of one command sort
 * in the order in which it made them (Specification, Tickets).
 */
export const makeIdentifier = <Id extends string>(moment: Moment, n: number): Id => {
  const { before, after } = affixesOf(moment)
  return `${before}${n.toString(16).padStart(3, "0")}${after}` as Id
}

/**
 * An identifier that grants access, such as an offer's. All other identifiers of a decision differ only by their count,
 * so each can be derived from another; this identifier has its own random bytes. A decision has at most one.
 */
export const makeGrantIdentifier = <Id extends string>({ now, entropy }: Moment, n: number): Id => {
  const { before, after } = affixesOf({ now, entropy: entropy.subarray(GRANT_AT) })
  return `${before}${n.toString(16).padStart(3, "0")}${after}` as Id
}

/** The parts before and after the count, which all identifiers of a moment share. */
const affixesOf = ({ now, entropy: e }: Moment) => {
  const time = Math.max(0, now).toString(16).padStart(12, "0")
  const variant = hex[(e[0]! & 0x3f) | 0x80]!
  const node = hex[e[2]!]! + hex[e[3]!]! + hex[e[4]!]! + hex[e[5]!]! + hex[e[6]!]! + hex[e[7]!]!
  return { before: `${time.slice(0, 8)}-${time.slice(8)}-7`, after: `-${variant}${hex[e[1]!]!}-${node}` }
}
