import { IPV6_PREFIX } from "@workshop/core"

/** How much of a server its clients may hold at once. */
export interface ConnectionLimits {
  /** Open connections. Room for a new one is made by closing one on which no request runs. */
  readonly maxConnections: number
  /** Open connections of one address, an IPv6 network being one. Behind a proxy they all come from the proxy. */
  readonly maxConnectionsPerAddress: number
  /** Requests on one connection; with the answer to the last one it is closed. */
  readonly maxRequestsPerConnection: number
  /** Bytes of answers that wait for clients to take them. Beyond that, who has waited for longest is cut off. */
  readonly maxUnreadBytes: number
  /** By how many bits an IPv6 address names its network. */
  readonly ipv6Prefix: number
}

/** The limits of a server in the open. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 2_000,
  maxConnectionsPerAddress: 1_000,
  maxRequestsPerConnection: 10_000,
  maxUnreadBytes: 64 * 1024 * 1024,
  ipv6Prefix: IPV6_PREFIX
}
