/** So many shops, each with five keys, that no limit refuses. */
export const SHOPS = 400

/** The life of a ticket from its create to its end: five writes, each of which raises an event, and reads. */
export const STATES = ["ready", "workshop", "ready", "collected"] as const
/** See {@link STATES}. */
export const WRITES = STATES.length + 1
/** How often a ticket is read, by its shop's app and by its page. */
export const READS = 20

/** The questions to the server: to begin or to stop delivering, to wait until nothing is due, or only for its processor time. */
export interface Asked {
  readonly asked: "deliver" | "delivered" | "stop" | "usage"
}

/** The names of results by which docs/performance.md says what a machine carries (`scripts/benchResults.mjs`). */
export const LIFE_WORKS = {
  rate: "whole lives of tickets, all at once",
  service: "CPU time of the service's process",
  servers: "CPU time of Postgres"
} as const
