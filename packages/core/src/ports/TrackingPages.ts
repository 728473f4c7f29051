import { Context } from "effect"

/**
 * The address at which this service serves tickets' pages: `tracking_url` begins with `base_url` in a shop without its
 * own `tracking_base_url`. It is null by default, and then there are no pages. A server that listens on any free port
 * sets it when it knows the port. All processes of one service must have the same value, because events contain
 * `tracking_url` too.
 */
export class TrackingPages extends Context.Reference<TrackingPages>()("@workshop/core/TrackingPages", {
  defaultValue: (): { base_url: string | null } => ({ base_url: null })
}) {}
