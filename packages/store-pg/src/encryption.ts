import { BlockList, isIP } from "node:net"
import { Effect } from "effect"
import { addressOf } from "./Address.js"

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

const isOnThisMachine = (host: string): boolean => {
  // Without a host, or with a folder for one, it is a socket of this machine.
  if (host === "" || host.startsWith("/") || host.toLowerCase() === "localhost") return true
  const family = isIP(host)
  return family !== 0 && loopback.check(host, family === 6 ? "ipv6" : "ipv4")
}

/**
 * The host to which a connection string leads in the clear without saying so: another machine's, with no `sslmode`. Undefined
 * where the connection stays on this machine or the string decides. `fallback` is `PGSSLMODE`, which the driver reads without one.
 */
export const clearHostOf = (url: string, fallback: string | undefined): string | undefined => {
  const { hosts, saysTls } = addressOf(url)
  return saysTls || (fallback ?? "") !== "" ? undefined : hosts.find((host) => !isOnThisMachine(host))
}

/** Warns where the data go to the database in the clear: phone numbers, and secrets of webhooks. */
export const warnOfClearText = (url: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const host = clearHostOf(url, process.env.PGSSLMODE)
    return host === undefined
      ? Effect.void
      : Effect.logWarning(
          `The connection to the database on ${host} is not encrypted, and phone numbers and webhook secrets pass over it: add ?sslmode=verify-full to its address (and &sslrootcert=FILE for an authority of your own)`
        )
  })
