import type { Command } from "@effect/cli"
import { CONNECTION_LIMITS, type ConnectionLimits } from "@workshop/http-node/ConnectionLimits"
import { value } from "./terminal/Flags.js"
import { optional, wholeNumber } from "./terminal/Readers.js"

const count = (name: string, description: string, fallback: number) =>
  value({
    name,
    placeholder: "number",
    description,
    read: wholeNumber(1, Number.MAX_SAFE_INTEGER),
    fallback: String(fallback)
  })

/** The flags that bound what clients may hold of a server. */
export const connectionOptions = {
  maxConnections: count(
    "max-connections",
    "How many connections may be open. Beyond that an idle one is closed for each new one.",
    CONNECTION_LIMITS.maxConnections
  ),
  maxConnectionsPerAddress: value({
    name: "max-connections-per-address",
    placeholder: "number",
    description: `How many connections one address may have. Default: ${CONNECTION_LIMITS.maxConnectionsPerAddress}; with --trust-proxy, all, because they are the proxy's.`,
    read: optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
    fallback: ""
  }),
  maxRequestsPerConnection: count(
    "max-requests-per-connection",
    "After how many requests a connection is closed.",
    CONNECTION_LIMITS.maxRequestsPerConnection
  ),
  maxUnreadBytes: count(
    "max-unread-bytes",
    "How many bytes of answers may wait for clients to take them; beyond that the slowest clients are cut off.",
    CONNECTION_LIMITS.maxUnreadBytes
  ),
  ipv6Prefix: value({
    name: "ipv6-prefix",
    placeholder: "bits",
    description: "How many bits of an IPv6 address name its network, which counts as one address.",
    read: wholeNumber(16, 128),
    fallback: String(CONNECTION_LIMITS.ipv6Prefix)
  })
}

/** The limits as they were asked for. */
export const connectionLimits = ({
  maxConnections,
  maxConnectionsPerAddress,
  maxRequestsPerConnection,
  maxUnreadBytes,
  ipv6Prefix
}: Command.Command.ParseConfig<typeof connectionOptions>): Partial<ConnectionLimits> => ({
  maxConnections,
  ...(maxConnectionsPerAddress !== null && { maxConnectionsPerAddress }),
  maxRequestsPerConnection,
  maxUnreadBytes,
  ipv6Prefix
})
