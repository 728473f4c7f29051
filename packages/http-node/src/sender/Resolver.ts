import { Resolver } from "node:dns/promises"
import { Effect } from "effect"
import { type NotSent, notSent } from "./NotSent.js"

/** The addresses of a name, at least one; the preferred ones first. */
export type Resolve = (name: string) => Effect.Effect<ReadonlyArray<string>, NotSent>

/** Time for the first question; the second one gets about twice that, and both stay well within the ten seconds. */
const ANSWER_MS = 1500
const TRIES = 2

/**
 * Asks name servers, the system's unless told, for IPv4 first as more receivers are really reachable there. Not `dns.lookup`: that waits in
 * one of the process's four threads, so that four dead name servers would stop the deliveries of every shop. It also
 * leaves out `/etc/hosts`, where no receiver's name stands. A resolver each, as only a whole resolver can be cancelled.
 */
export const nameServers =
  (servers?: ReadonlyArray<string>): Resolve =>
  (name) =>
    Effect.async((resume) => {
      const resolver = new Resolver({ timeout: ANSWER_MS, tries: TRIES })
      if (servers !== undefined) resolver.setServers(servers)
      void Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]).then(([v4, v6]) => {
        const addresses = [v4, v6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
        if (addresses.length > 0) return resume(Effect.succeed(addresses))
        return resume(Effect.fail(notSent("lookup", v4.status === "rejected" ? v4.reason : undefined)))
      })
      return Effect.sync(() => resolver.cancel())
    })
