/** How long a client is waited for, in milliseconds of real time: a slow one must not hold a socket. */
export interface ServerTimeouts {
  /** For a request's head, from its first byte, or from the connection's beginning. */
  readonly head_ms: number
  /** For a whole request, head and body. */
  readonly request_ms: number
  /** For the next request on a connection. Longer than usual proxies wait, so that it is the proxy who hangs up. */
  readonly idle_ms: number
  /** For a client to take any more of an answer that is on its way. */
  readonly taking_ms: number
  /** For a client to take an answer whole, however steadily it takes it. */
  readonly taken_ms: number
  /** For requests that were on their way when the server stopped accepting. */
  readonly parting_ms: number
  /** For what runs to finish once the server stops accepting; whatever is left of ten seconds is the process's. */
  readonly stopping_ms: number
  /** How often overdue heads and requests are looked for. */
  readonly check_ms: number
}

/** The timeouts of a server in the open. */
export const SERVER_TIMEOUTS: ServerTimeouts = {
  head_ms: 10_000,
  request_ms: 30_000,
  idle_ms: 65_000,
  taking_ms: 30_000,
  taken_ms: 120_000,
  parting_ms: 250,
  stopping_ms: 7_000,
  check_ms: 1_000
}
