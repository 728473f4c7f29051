import { IN_FLIGHT, SHOPS } from "../create/Workload.js"

/** The names of the results that the simulation of a fleet reads. */
export const CELL_WORKS = {
  rate: `creates, ${IN_FLIGHT} in flight, ${SHOPS} shops`,
  idle: "one create on an idle database, p50",
  batch: "creates in a batch",
  server: "CPU time of the servers for a create in such a batch",
  serverAlone: "CPU time of the servers for a create alone",
  service: "CPU time of the service's process for a create",
  read: "CPU time of the servers for a GET",
  serviceRead: "CPU time of the service's process for a GET",
  delivery: "CPU time of the servers for a delivery, claimed and recorded",
  look: "CPU time of the servers for a claim of nothing",
  moveSmall: "move of an empty cell",
  moveLarge: "move of a larger cell",
  moveBytes: "its size"
} as const

/** See {@link CELL_WORKS}. */
export const MOVED_TICKETS = "its tickets"
