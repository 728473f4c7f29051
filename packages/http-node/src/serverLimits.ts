import { IPV6_PREFIX } from "@workshop/core/adapter"

/** How much of a server its clients may hold at once. */
export interface ConnectionLimits {
  /** Open connections. The server makes room for a new one by closing one on which no request runs. */
  readonly maxConnections: number
  /** Open connections of one address; an IPv6 network counts as one address. Behind a proxy all come from the proxy. */
  readonly maxConnectionsPerAddress: number
  /** Requests on one connection. The response to the last one closes it. */
  readonly maxRequestsPerConnection: number
  /** Bytes of responses that wait for their clients to read them. Above that, the server closes the connections that have waited longest. */
  readonly maxUnreadBytes: number
  /** The number of bits of an IPv6 address that name its network. */
  readonly ipv6Prefix: number
}

/** The default limits, for a server that anybody can reach. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 2_000,
  maxConnectionsPerAddress: 1_000,
  maxRequestsPerConnection: 10_000,
  maxUnreadBytes: 64 * 1024 * 1024,
  ipv6Prefix: IPV6_PREFIX
}

/** The time-outs of a server, in milliseconds of real time, so that a slow client does not hold a socket. */
export interface ServerTimeouts {
  /** How long a request's head may take, from its first byte, or from the start of the connection. */
  readonly head_ms: number
  /** How long a whole request may take, head and body. */
  readonly request_ms: number
  /** How long a connection stays open without a request. Longer than usual proxies wait, so that the proxy closes the connection first. */
  readonly idle_ms: number
  /** How long a client may read nothing of a response that is being sent. */
  readonly response_stall_ms: number
  /** How long a client may take to read a response, even if it reads steadily. */
  readonly response_total_ms: number
  /** How long the server waits for requests that were being sent when it stopped accepting connections. */
  readonly drain_arrival_ms: number
  /** How long running requests may take to finish once the server stops accepting connections; the rest of ten seconds is for the process to end. */
  readonly stopping_ms: number
  /** How often the server looks for heads and requests that took too long. */
  readonly check_ms: number
}

/** The default timeouts, for a server that anybody can reach. */
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
