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
  readonly head_ms: number
  /** The time for a whole request, head and body. */
  readonly request_ms: number
  /** The time that a connection stays open without a request. Proxies usually wait less, so they close first. */
  readonly idle_ms: number
  /** The time for which a client may read no data of a response. */
  readonly response_stall_ms: number
  /** The time in which a client must read a whole response, even if it reads steadily. */
  readonly response_total_ms: number
  /** The time for which a stopping server waits for requests that clients are sending. */
  readonly drain_arrival_ms: number
  /** The time for running requests when the server stops. Under ten seconds, so that the process can end in ten. */
  readonly stopping_ms: number
  /** The interval at which the server checks the timeouts of heads and requests. */
  readonly check_ms: number
}

/** The default timeouts, for a server on the internet. */
export const SERVER_TIMEOUTS: ServerTimeouts = {
  head_ms: 10_000,
  request_ms: 30_000,
  idle_ms: 65_000,
  response_stall_ms: 30_000,
  response_total_ms: 120_000,
  drain_arrival_ms: 250,
  stopping_ms: 7_000,
  check_ms: 1_000
}
