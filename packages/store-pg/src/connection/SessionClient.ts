import { Data } from "effect"
import pg from "pg"
import { parseAddress } from "./Address.js"
import { recordServer } from "./FailedServer.js"
import { addTitle } from "./Statement.js"

/** Settings of a session, by name. */
export type Settings = Readonly<Record<string, string>>

// Every statement of the store can use an index for its rows and their order. These settings forbid other plans,
// because a plan made while a table was small would still scan or sort the whole table when it has millions of rows.
const INDEX_SCANS_ONLY = {
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_sort: "off",
  jit: "off"
}

/**
 * The settings for statements whose best plan does not depend on the values, so that each is planned once per
 * connection.
 */
export const PLANNED_ONCE: Settings = { ...INDEX_SCANS_ONLY, plan_cache_mode: "force_generic_plan" }

/**
 * The settings for reads. Postgres reuses a generic plan of a prepared statement if its cost does not exceed the
 * average of the first five plans for specific values. An unprepared statement is planned for its values each time.
 */
export const PLANNED_BY_COST: Settings = { ...INDEX_SCANS_ONLY, plan_cache_mode: "auto" }

/** The settings for statements whose best index depends on the values, and for nodes of Citus, which refuse plans for all values. */
export const PLANNED_EACH_TIME: Settings = { ...INDEX_SCANS_ONLY, plan_cache_mode: "force_custom_plan" }

/** The refusal of a session although its connection works. */
export class SessionRefused extends Data.TaggedError("SessionRefused")<{ readonly message: string }> {}

const SHARED_SESSION =
  "A connection pooler in transaction or statement mode shares database sessions among this program's connections. Set the pooler to session mode, or connect to Postgres directly."
/** The remedy if the server is read-only. */
export const READS_ONLY =
  "The database server is read-only, like a standby. Add the primary to the database address, or promote this server."
const SETTINGS_REFUSED = "The database did not accept this program's session settings"

/** The options of a connection, and the settings of its session. */
export interface SessionConfig extends pg.ClientConfig {
  readonly url: string
  readonly settings: Settings
}

/**
 * The index of the server that is tried first, by address. It is the last suitable server, so that connections after a
 * failover try the new primary first.
 */
const firstServer = new Map<string, number>()

/** The addresses whose sessions are known not to be shared by a pooler. */
const unsharedUrls = new Set<string>()

/**
 * The number of comparisons of two connections' sessions, because a pooler with other traffic may give them different
 * sessions by chance.
 */
const COMPARISONS = 8

/** Makes new connections check again whether a pooler shares their sessions, because its mode may have changed. */
export const recheckSessions = (): void => unsharedUrls.clear()

const NOTICE_LOST_CLIENTS = {
  client_connection_check_interval: "case when version() ~* 'windows|mingw|visual' then '0' else '1s' end"
}

/** SQL that sets the settings, with `isLocal` only for the transaction. */
export const settingsText = (settings: Settings, isLocal: boolean): string => {
  const names = Object.entries(settings).map(([name, value]) => [name, `'${value}'`])
  return [...names, ...(isLocal ? [] : Object.entries(NOTICE_LOST_CLIENTS))]
    .map(([name, value]) => `set_config('${name}', ${value}, ${isLocal})`)
    .join(", ")
}

const settingsStatement = (settings: Settings): string => {
  return addTitle(
    "settle",
    `select array[${settingsText(settings, false)}] as taken, pg_backend_pid() as pid, gen_random_uuid()::text as id,
      pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as only_reads`
  )
}

interface SessionIdentity {
  readonly taken: ReadonlyArray<string>
  readonly pid: number
  readonly id: string
  readonly only_reads: boolean
}

const pidOf = async (client: pg.Client): Promise<number> =>
  (await client.query<{ pid: number }>(addTitle("whose session", "select pg_backend_pid() as pid"))).rows[0]!.pid

/**
 * A connection whose session has the settings of this program. The first statement sets them, because poolers refuse or
 * drop startup parameters. It skips servers of the address that do not respond, or that are read-only although the
 * service must write.
 */
export class SessionClient extends pg.Client {
  /** An id that no other session has; empty until it is read. */
  id = ""
  /** The process id of the session on the server; 0 until it is read. */
  pid = 0
  /** The url of its database. */
  readonly url: string
  readonly #settings: Settings
  readonly #server: number
  readonly #config: pg.ClientConfig

  constructor({ url, settings, ...config }: SessionConfig) {
    const { servers } = parseAddress(url)
    const server = firstServer.get(url) ?? 0
    const own = { ...config, ...servers[server] }
    super(own)
    this.url = url
    this.#settings = settings
    this.#server = server
    this.#config = own
    // A running statement reports a lost connection itself. Without this listener, losing an idle connection would end
    // the process. The address is checked again, because a pooler may have restarted in another mode.
    this.on("error", () => unsharedUrls.delete(url))
  }

  // The overloads of `connect` cannot be distinguished by type here.
  override connect(callback?: (error: never, client: never) => void): never {
    const settled = super.connect().then(() => this.#applySettings())
    const done = settled.catch((error) => {
      const { servers } = parseAddress(this.url)
      if ((firstServer.get(this.url) ?? 0) === this.#server)
        firstServer.set(this.url, (this.#server + 1) % servers.length)
      void this.end().catch(() => {})
      recordServer(error, this)
      throw error
    })
    if (callback === undefined) return done as never
    const report = callback as (error: unknown) => void
    done.then(() => report(null), report)
    return undefined as never
  }

  async #applySettings(): Promise<void> {
    const [row] = (await this.query<SessionIdentity>(settingsStatement(this.#settings))).rows
    const { taken, pid, id, only_reads } = row!
    if (Object.values(this.#settings).some((value, i) => value !== taken[i]))
      throw new SessionRefused({ message: `${SETTINGS_REFUSED} (${taken.join(", ")})` })
    if (only_reads && parseAddress(this.url).requiresWritable) throw new SessionRefused({ message: READS_ONLY })
    const { processID } = this as unknown as { processID: number }
    if (processID !== pid && !(await this.#isOwn(pid))) throw new SessionRefused({ message: SHARED_SESSION })
    // Replaces the id that a pooler reported at the start, because `pg` sends `processID` in cancel requests.
    Object.assign(this, { processID: pid, pid, id })
  }

  /** Checks, with a second connection, that a pooler does not share this connection's session. */
  async #isOwn(pid: number): Promise<boolean> {
    if (unsharedUrls.has(this.url)) return true
    const otherClient = new pg.Client(this.#config)
    otherClient.on("error", () => {})
    try {
      await otherClient.connect()
      for (let look = 0; look < COMPARISONS; look++) {
        const otherPid = await pidOf(otherClient)
        if (otherPid === pid || (await pidOf(this)) !== pid) return false
      }
    } catch {
      // The second connection got no session, which shows that the pooler does not share sessions.
    } finally {
      void otherClient.end().catch(() => {})
    }
    unsharedUrls.add(this.url)
    return true
  }
}

/** Connects to the first suitable server of an address. */
export const connectClient = async <C extends SessionClient>(url: string, make: () => C): Promise<C> => {
  for (let remainingServers = parseAddress(url).servers.length; ; ) {
    const client = make()
    try {
      await client.connect()
      return client
    } catch (error) {
      if (--remainingServers <= 0) throw error
    }
  }
}

/** Milliseconds in the format in which Postgres prints settings. */
export const formatMs = (ms: number): string => {
  if (ms === 0) return "0"
  if (ms % 86_400_000 === 0) return `${ms / 86_400_000}d`
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`
  if (ms % 60_000 === 0) return `${ms / 60_000}min`
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`
}
