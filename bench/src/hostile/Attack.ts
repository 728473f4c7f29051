/** The number of shops, with which no limit refuses an honest request. */
export const SHOPS = 400

/** The server's message once it listens. */
export interface ServerReady {
  readonly port: number
}

/** The server's current memory in bytes, and the largest so far. */
export interface ServerState {
  readonly rss: number
  readonly most_rss: number
}

/** A message that makes the attackers open a number of connections and begin. */
export interface AttackOrder {
  readonly port: number
  readonly connections: number
  /** The nice value of the attackers' process, from 0, the default, to 19, the lowest priority. */
  readonly nice: number
}

/**
 * The number of connections that were reopened because the server closed them, and the bytes that were sent and read.
 */
export interface AttackCounts {
  readonly reopened: number
  readonly sent: number
  readonly read: number
}
