/** How many shops have a webhook, and how many deliveries may be on their way at once: four a shop (contract §9). */
export const SHOPS = 50
/** See {@link SHOPS}. */
export const IN_FLIGHT = 4 * SHOPS

/** Brings so many events of each shop to a receiver. */
export interface Deliver {
  readonly events: number
}

/** How fast they were brought: all of them, each with its attempt logged. */
export interface Delivered {
  readonly per_second: number
}

/** Raises events of healthy shops for a while, beside a shop with a backlog whose receiver hangs, or without one. */
export interface Compare {
  readonly seconds: number
  readonly backlog: number
}
