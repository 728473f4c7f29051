import { Context } from "effect"

/**
 * Where this service shows clients their tickets: `base_url` is what `tracking_url` begins with in a shop without a
 * `tracking_base_url` of its own. Null, and no such page, unless provided. A server that listens on any free port sets it once it
 * knows the port. All processes of one service must be given the same, because events hold `tracking_url` too.
 */
export class TrackingPages extends Context.Reference<TrackingPages>()("@workshop/core/TrackingPages", {
  defaultValue: (): { base_url: string | null } => ({ base_url: null })
}) {}
