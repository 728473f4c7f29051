import { readFileSync } from "node:fs"
import { BlockList, isIP } from "node:net"
import { Effect } from "effect"
import type pg from "pg"
import { DatabaseFailed } from "./migrate/DatabaseFailed.js"

/** Where a database is: one server, or several of which one at a time takes writes. */
export interface Address {
  /** How to connect to each server, in the order in which they are named. */
  readonly servers: ReadonlyArray<pg.ClientConfig>
  /** The host of each, or the folder of its socket. */
  readonly hosts: ReadonlyArray<string>
  /** Whether it says how the connection is to be encrypted, or that it is not. */
  readonly saysTls: boolean
  /** Whether a server that only reads, such as a standby, is passed over. */
  readonly mustWrite: boolean
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)((?:\/[^?#]*)?)(?:\?([^#]*))?$/i
const PORT = "5432"

const refused = (what: string) => new DatabaseFailed({ reason: "no_url", code: undefined, what })

const UNREADABLE = refused(
  "The address of the database does not read like postgres://user:password@host:5432/name, where a password's # is %23 and its / is %2F"
)

/** What the mode of TLS asks of the server (libpq's `sslmode`). Modes that may go without are refused: they promise nothing. */
const MODES = {
  disable: { isEncrypted: false, isVerified: false, isNamed: false },
  require: { isEncrypted: true, isVerified: false, isNamed: false },
  "no-verify": { isEncrypted: true, isVerified: false, isNamed: false },
  "verify-ca": { isEncrypted: true, isVerified: true, isNamed: false },
  "verify-full": { isEncrypted: true, isVerified: true, isNamed: true }
} as const

const isMode = (mode: string): mode is keyof typeof MODES => Object.hasOwn(MODES, mode)

const fileOf = (params: URLSearchParams, name: string): string | undefined => {
  const path = params.get(name)
  if (path === null || path === "system") return undefined
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw refused(`The file of ${name} cannot be read (${error instanceof Error ? error.message : error})`)
  }
}

/** The TLS of a connection; undefined where the address says nothing of it. */
const tlsOf = (params: URLSearchParams): ((host: string) => pg.ClientConfig["ssl"]) => {
  const ca = fileOf(params, "sslrootcert")
  const [cert, key] = [fileOf(params, "sslcert"), fileOf(params, "sslkey")]
  const mode = params.get("sslmode") ?? (params.has("sslrootcert") ? "verify-full" : undefined)
  if (mode === undefined) return () => undefined
  if (!isMode(mode))
    throw refused(`The address of the database has sslmode=${mode}, which is none of ${Object.keys(MODES).join(", ")}`)
  if (mode === "verify-ca" && ca === undefined)
    throw refused(
      "The address of the database has sslmode=verify-ca without sslrootcert, the file of the authority to trust"
    )
  const { isEncrypted, isNamed } = MODES[mode]
  // As libpq has it: with an authority named, `require` verifies the certificate, though not whose it is.
  const isVerified = MODES[mode].isVerified || (mode === "require" && ca !== undefined)
  if (!isEncrypted) return () => false
  return (host) => ({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    // An address in numbers is looked for in the certificate too.
    ...(isIP(host) === 0 ? {} : { host }),
    rejectUnauthorized: isVerified,
    ...(isNamed ? {} : { checkServerIdentity: () => undefined })
  })
}

/** Which servers of the address will do (libpq's `target_session_attrs`); the service writes, so none that only reads. */
const mustWrite = (params: URLSearchParams, servers: number): boolean => {
  const wanted = params.get("target_session_attrs") ?? (servers > 1 ? "read-write" : "any")
  if (!["any", "read-write", "primary"].includes(wanted))
    throw refused(
      `The address of the database has target_session_attrs=${wanted}, and the service writes: read-write, primary or any`
    )
  return wanted !== "any"
}

const OURS = ["host", "port", "target_session_attrs", "sslmode", "sslrootcert", "sslcert", "sslkey"]

/** The host and the port of each server: from the authority, or, as libpq has it too, from the query. */
const serversOf = (authority: string, params: URLSearchParams): ReadonlyArray<readonly [string, string]> => {
  const listed = params.get("host")
  if (listed === null) {
    return authority.split(",").map((one) => {
      const [, bracketed, plain = "", port = PORT] = /^(?:\[(.+)\]|([^:]*))(?::(\d+))?$/.exec(one) ?? []
      return [decodeURIComponent(bracketed ?? plain) || "localhost", port]
    })
  }
  const ports = (params.get("port") ?? /:(\d+)$/.exec(authority)?.[1] ?? PORT).split(",")
  return listed.split(",").map((host, i) => [host, ports[i] ?? ports[0]!])
}

const parsed = (url: string): Address => {
  const [, start, authority = "", path, query = ""] = PARTS.exec(url) ?? []
  const single = `${start}${authority.split(",")[0] === "" ? "localhost" : authority.split(",")[0]}${path}`
  if (
    start === undefined ||
    !authority.split(",").every((one) => URL.canParse(`postgres://${one || "localhost"}/`)) ||
    !URL.canParse(single)
  )
    throw UNREADABLE
  const params = new URLSearchParams(query)
  const servers = serversOf(authority, params)
  const tls = tlsOf(params)
  const others = [...params].filter(([name]) => !OURS.includes(name))
  return {
    mustWrite: mustWrite(params, servers.length),
    hosts: servers.map(([host]) => host),
    saysTls: ["ssl", "sslmode", "sslrootcert"].some((name) => params.has(name)),
    servers: servers.map(([host, port]) => {
      const ssl = tls(host)
      const where = new URLSearchParams([...others, ["host", host], ["port", port]])
      return { connectionString: `${start}localhost${path}?${where}`, ...(ssl === undefined ? {} : { ssl }) }
    })
  }
}

/** Files are read once: a certificate that is replaced is taken up by the next start. */
const known = new Map<string, Address>()

/**
 * Reads a connection string; throws {@link DatabaseFailed} where it is none. `pg` would take any text for the name of a host,
 * and look it up. The refusal repeats nothing of it, as it may bear a password.
 */
export const addressOf = (url: string): Address => {
  const address = known.get(url) ?? parsed(url)
  known.set(url, address)
  return address
}

/** Fails where a connection string has not the form of one. */
export const databaseUrl = (url: string): Effect.Effect<string, DatabaseFailed> =>
  Effect.try({
    try: () => {
      addressOf(url)
      return url
    },
    catch: (error) => (error instanceof DatabaseFailed ? error : UNREADABLE)
  })

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
