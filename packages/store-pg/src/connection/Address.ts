import { readFileSync } from "node:fs"
import { BlockList, isIP } from "node:net"
import { Effect } from "effect"
import type pg from "pg"
import { DatabaseFailed } from "./DatabaseFailed.js"

/** The address of a database: one server, or several of which only one accepts writes at a time. */
export interface Address {
  /** The connection options of each server, in the order of the connection string. */
  readonly servers: ReadonlyArray<pg.ClientConfig>
  /** The host of each server, or the folder of its socket. */
  readonly hosts: ReadonlyArray<string>
  /** The name of the database; empty if the connection string has none, which means the user's name. */
  readonly database: string
  /** Whether the connection string decides about encryption. */
  readonly saysTls: boolean
  /** Whether read-only servers, such as standbys, are skipped. */
  readonly requiresWritable: boolean
}

const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)((?:\/[^?#]*)?)(?:\?([^#]*))?$/i
const PORT = "5432"

const refusal = (what: string) => new DatabaseFailed({ reason: "no_url", code: undefined, what })

const UNREADABLE = refusal(
  "The database address does not have the form postgres://user:password@host:5432/name. In a password, write # as %23 and / as %2F"
)

const MISSING = refusal(
  "The database address is missing, perhaps because its environment variable is not set. An address has the form postgres://user:password@host:5432/name"
)

const NOT_A_TEXT = refusal(
  "The database address must be a string such as postgres://user:password@host:5432/name. To pass a Config, use layerConfig"
)

/**
 * The TLS options for each `sslmode` of libpq. Modes with optional encryption are left out, because they guarantee
 * nothing.
 */
const TLS_MODES = {
  disable: { isEncrypted: false, isVerified: false, isNamed: false },
  require: { isEncrypted: true, isVerified: false, isNamed: false },
  "no-verify": { isEncrypted: true, isVerified: false, isNamed: false },
  "verify-ca": { isEncrypted: true, isVerified: true, isNamed: false },
  "verify-full": { isEncrypted: true, isVerified: true, isNamed: true }
} as const

const isMode = (mode: string): mode is keyof typeof TLS_MODES => Object.hasOwn(TLS_MODES, mode)

const fileOf = (params: URLSearchParams, name: string): string | undefined => {
  const path = params.get(name)
  if (path === null || path === "system") return undefined
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw refusal(
      `The file that ${name} in the database address names cannot be read (${error instanceof Error ? error.message : error})`
    )
  }
}

/** The TLS options of a connection to a host; undefined if the address has none. */
const tlsOf = (params: URLSearchParams): ((host: string) => pg.ClientConfig["ssl"]) => {
  const ca = fileOf(params, "sslrootcert")
  const [cert, key] = [fileOf(params, "sslcert"), fileOf(params, "sslkey")]
  const mode = params.get("sslmode") ?? (params.has("sslrootcert") ? "verify-full" : undefined)
  if (mode === undefined) return () => undefined
  if (!isMode(mode))
    throw refusal(
      `The database address has sslmode=${mode}, but sslmode must be one of ${Object.keys(TLS_MODES).join(", ")}`
    )
  if (mode === "verify-ca" && ca === undefined)
    throw refusal(
      "The database address has sslmode=verify-ca without sslrootcert. Add sslrootcert with the path of the trusted authority's certificate"
    )
  const { isEncrypted, isNamed } = TLS_MODES[mode]
  // As in libpq: with `sslrootcert`, `require` verifies the certificate but not the host name.
  const isVerified = TLS_MODES[mode].isVerified || (mode === "require" && ca !== undefined)
  if (!isEncrypted) return () => false
  return (host) => ({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    // With an IP address, TLS must check that the certificate contains the address.
    ...(isIP(host) === 0 ? {} : { host }),
    rejectUnauthorized: isVerified,
    ...(isNamed ? {} : { checkServerIdentity: () => undefined })
  })
}

/**
 * Whether read-only servers are skipped, from libpq's `target_session_attrs`. Modes that need a read-only server are
 * refused, because the service writes.
 */
const requiresWritable = (params: URLSearchParams, servers: number): boolean => {
  const sessionMode = params.get("target_session_attrs") ?? (servers > 1 ? "read-write" : "any")
  if (!["any", "read-write", "primary"].includes(sessionMode))
    throw refusal(
      `The database address has target_session_attrs=${sessionMode}, but the service needs a server that accepts writes. Use read-write, primary or any`
    )
  return sessionMode !== "any"
}

const HANDLED_PARAMETERS = ["host", "port", "target_session_attrs", "sslmode", "sslrootcert", "sslcert", "sslkey"]

/** The host and the port of each server: from the authority, or from the query, as in libpq. */
const serversOf = (authority: string, params: URLSearchParams): ReadonlyArray<readonly [string, string]> => {
  const hostParameter = params.get("host")
  if (hostParameter === null) {
    return authority.split(",").map((host) => {
      const [, ipv6, hostName = "", port = PORT] = /^(?:\[(.+)\]|([^:]*))(?::(\d+))?$/.exec(host) ?? []
      return [decodeURIComponent(ipv6 ?? hostName) || "localhost", port]
    })
  }
  const ports = (params.get("port") ?? /:(\d+)$/.exec(authority)?.[1] ?? PORT).split(",")
  return hostParameter.split(",").map((host, i) => [host, ports[i] ?? ports[0]!])
}

const decodePart = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw UNREADABLE
  }
}

const parseUrl = (url: string): Address => {
  const [, start, authority = "", path, query = ""] = URL_PARTS.exec(url) ?? []
  const singleHostUrl = `${start}${authority.split(",")[0] === "" ? "localhost" : authority.split(",")[0]}${path}`
  if (
    start === undefined ||
    !authority.split(",").every((host) => URL.canParse(`postgres://${host || "localhost"}/`)) ||
    !URL.canParse(singleHostUrl)
  )
    throw UNREADABLE
  const params = new URLSearchParams(query)
  const servers = serversOf(authority, params)
  const tls = tlsOf(params)
  const others = [...params].filter(([name]) => !HANDLED_PARAMETERS.includes(name))
  return {
    requiresWritable: requiresWritable(params, servers.length),
    hosts: servers.map(([host]) => host),
    database: decodePart((path ?? "").slice(1)),
    saysTls: ["ssl", "sslmode", "sslrootcert"].some((name) => params.has(name)),
    servers: servers.map(([host, port]) => {
      const ssl = tls(host)
      const where = new URLSearchParams([...others, ["host", host], ["port", port]])
      return { connectionString: `${start}localhost${path}?${where}`, ...(ssl === undefined ? {} : { ssl }) }
    })
  }
}

/** The parsed addresses. Certificate files are read once, so a replaced certificate is used only after a restart. */
const addresses = new Map<string, Address>()

/**
 * Parses a connection string. Throws {@link DatabaseFailed} if it is invalid, because `pg` would look any text up as a
 * host name. The error repeats no part of the text, which may contain a password.
 */
export const parseAddress = (url: string): Address => {
  const address = addresses.get(url) ?? parseUrl(url)
  addresses.set(url, address)
  return address
}

/** Fails if a text does not have the form of a connection string. */
export const databaseUrl = (url: string): Effect.Effect<string, DatabaseFailed> =>
  Effect.try({
    try: () => {
      // In a program without types, the value of a missing environment variable may be passed.
      if (url === undefined || url === null || url === "") throw MISSING
      if (typeof url !== "string") throw NOT_A_TEXT
      parseAddress(url)
      return url
    },
    catch: (error) => (error instanceof DatabaseFailed ? error : UNREADABLE)
  })

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

const isOnThisMachine = (host: string): boolean => {
  // Without a host, or with a folder as the host, the connection uses a socket of this machine.
  if (host === "" || host.startsWith("/") || host.toLowerCase() === "localhost") return true
  const family = isIP(host)
  return family !== 0 && loopback.check(host, family === 6 ? "ipv6" : "ipv4")
}

/**
 * The host to which a connection string connects unencrypted, probably by mistake: it is on another machine, and the
 * string has no `sslmode`. Otherwise undefined. `fallback` is `PGSSLMODE`, which the driver uses if the string has no
 * `sslmode`.
 */
export const unencryptedHostOf = (url: string, fallback: string | undefined): string | undefined => {
  const { hosts, saysTls } = parseAddress(url)
  return saysTls || (fallback ?? "") !== "" ? undefined : hosts.find((host) => !isOnThisMachine(host))
}

/** Logs a warning if the connection sends phone numbers and webhook secrets unencrypted. */
export const warnIfUnencrypted = (url: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const host = unencryptedHostOf(url, process.env.PGSSLMODE)
    return host === undefined
      ? Effect.void
      : Effect.logWarning(
          `The connection to the database on ${host} is not encrypted, but phone numbers and webhook secrets are sent over it. Add ?sslmode=verify-full to the database address, and &sslrootcert=FILE if you have your own certificate authority`
        )
  })
