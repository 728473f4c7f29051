/** Shops and keys enough that no limit refuses an honest request. */
export const SHOPS = 400

/** The server's message once it listens. */
export interface ServerReady {
  readonly port: number
}

/** Its memory in bytes, now and at most. */
export interface ServerState {
  readonly rss: number
  readonly most_rss: number
}

/** An order to the attackers: begin with so many connections, or stop. */
export interface Order {
  readonly port: number
  readonly connections: number
  /** The priority of the attackers' process, from 0, as everybody's, to 19, the lowest. */
  readonly nice: number
}

/** How many connections were opened again because the server closed them, and how many bytes were sent and read. */
export interface Toll {
  readonly reopened: number
  readonly sent: number
  readonly read: number
}
