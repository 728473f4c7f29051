import { IPV6_PREFIX } from "@workshop/core/internal"

/** The limits on clients' connections to a server. */
export interface ConnectionLimits {
  /** The maximum number of open connections. Above it, the server closes an idle connection for each new one. */
  readonly maxConnections: number
  /** The maximum number of connections from one address or IPv6 network. Behind a proxy, all have the proxy's address. */
  readonly maxConnectionsPerAddress: number
  /** The maximum number of requests on one connection. The response to the last request closes it. */
  readonly maxRequestsPerConnection: number
  /** The maximum of unread response bytes. Above it, the connections with the oldest unread responses are closed. */
  readonly maxUnreadBytes: number
  /** The prefix length of the IPv6 networks that count as one address. */
  readonly ipv6Prefix: number
}

/** The default limits, for a server on the internet. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 2_000,
  maxConnectionsPerAddress: 1_000,
  maxRequestsPerConnection: 10_000,
  maxUnreadBytes: 64 * 1024 * 1024,
  ipv6Prefix: IPV6_PREFIX
}

/** The timeouts of a server, in milliseconds of real time. They keep slow clients from occupying sockets. */
export interface ServerTimeouts {
  /** The time for a request's head, from its first byte or from the start of the connection. */
  readonly headMs: number
  /** The time for a whole request, head and body. */
  readonly requestMs: number
  /** The time that a connection stays open without a request. Proxies usually wait less, so they close first. */
  readonly idleMs: number
  /** The time for which a client may read no data of a response. */
  readonly responseStallMs: number
  /** The time in which a client must read a whole response, even if it reads steadily. */
  readonly responseTotalMs: number
  /** The time for which a stopping server waits for requests that clients are sending. */
  readonly drainArrivalMs: number
  /** The time for running requests when the server stops. Under ten seconds, so that the process can end in ten. */
  readonly stoppingMs: number
  /** The interval at which the server checks the timeouts of heads and requests. */
  readonly checkMs: number
}

/** The default timeouts, for a server on the internet. */
export const SERVER_TIMEOUTS: ServerTimeouts = {
  headMs: 10_000,
  requestMs: 30_000,
  idleMs: 65_000,
  responseStallMs: 30_000,
  responseTotalMs: 120_000,
  drainArrivalMs: 250,
  stoppingMs: 7_000,
  checkMs: 1_000
}
