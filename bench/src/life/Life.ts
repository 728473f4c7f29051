/** The number of shops, each with five keys, with which no limit refuses a request. */
export const SHOPS = 400

/** The statuses of a ticket after its create. A ticket thus has five writes, each of which raises an event. */
export const STATES = ["ready", "workshop", "ready", "collected"] as const
/** See {@link STATES}. */
export const WRITES = STATES.length + 1
/** The number of reads of a ticket, by its shop's app and by its page. */
export const READS = 20

/** A request to the server: begin or stop delivering, wait until nothing is due, or only report the processor time. */
export interface LifeQuestion {
  readonly asked: "deliver" | "delivered" | "stop" | "usage"
}

/**
 * The names of the results from which `scripts/benchResults.mjs` computes the capacity of a machine for
 * docs/performance.md.
 */
export const LIFE_WORKS = {
  rate: "whole lives of tickets, all at once",
  service: "CPU time of the service's process",
  servers: "CPU time of Postgres"
} as const
