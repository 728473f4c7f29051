import { BlockList, isIP } from "node:net"

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

const isLoopback = (host: string): boolean => {
  if (host.toLowerCase() === "localhost") return true
  const family = isIP(host)
  return family !== 0 && loopback.check(host, family === 6 ? "ipv6" : "ipv4")
}

/** The minimum length of a token, because 32 random characters cannot be guessed. */
export const TOKEN_CHARACTERS = 32

/** Whether a token protects the sandbox. An empty or short token does not, because it can be guessed. */
export const isStrongToken = (token: string | null): token is string =>
  token !== null && token.length >= TOKEN_CHARACTERS

/**
 * Whether the sandbox may be served at a host: the host is loopback, or a token protects the sandbox (Specification,
 * Sandbox).
 */
export const sandboxAllowed = (host: string, token: string | null): boolean => isLoopback(host) || isStrongToken(token)
