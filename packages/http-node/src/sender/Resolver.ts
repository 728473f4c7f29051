import { Resolver } from "node:dns/promises"
import { Effect } from "effect"
import { type SendFailed, sendFailed } from "./SendFailed.js"

/** Looks up the addresses of a name, in order of preference. Fails if there is none. */
export type Resolve = (name: string) => Effect.Effect<ReadonlyArray<string>, SendFailed>

/**
 * The timeout of the first query, in milliseconds. The second query has about twice that, so both are well within ten
 * seconds.
 */
const ANSWER_MS = 1500
const TRIES = 2

/**
 * Queries name servers, the system's by default. IPv4 comes first, because more receivers are reachable over it. It
 * does not use `dns.lookup`, which occupies one of the process's four threads, so that four unresponsive look-ups would
 * stop the deliveries of every shop. As a consequence, `/etc/hosts` is not read. Each look-up has its own resolver,
 * because only a whole resolver can be cancelled.
 */
export const nameServers =
  (servers?: ReadonlyArray<string>): Resolve =>
  (name) =>
    Effect.async((resume) => {
      const resolver = new Resolver({ timeout: ANSWER_MS, tries: TRIES })
      if (servers !== undefined) resolver.setServers(servers)
      void Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]).then(([v4, v6]) => {
        const addresses = [v4, v6].flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : []))
        if (addresses.length > 0) return resume(Effect.succeed(addresses))
        return resume(Effect.fail(sendFailed("lookup", v4.status === "rejected" ? v4.reason : undefined)))
      })
      return Effect.sync(() => resolver.cancel())
    })
