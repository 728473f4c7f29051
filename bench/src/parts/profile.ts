import { Session } from "node:inspector/promises"

/**
 * The kinds of work, each with a pattern for the addresses of its code. The first that matches counts. Node's own code
 * has an address with `node:` or none.
 */
const KINDS = [
  ["garbage collection", /^\(garbage collector\)/],
  ["Effect", /node_modules\/(effect|@effect)\//],
  ["phone numbers", /node_modules\/libphonenumber-js\//],
  ["other libraries", /node_modules\//],
  ["HTTP", /packages\/(core\/dist\/http|http-node)\/|bench\/dist\/http\/peer\.js/],
  ["store", /packages\/store-memory\/|bench\/dist\/http\/PeerStore\.js/],
  ["rules", /packages\/|bench\/dist\/http\//],
  ["Node: sockets, HTTP, hashes", /^/]
] as const

/** The share of each kind of work in the processor time of a process. */
export type Shares = Readonly<Record<string, number>>

const SAMPLED_EVERY_US = 250

/** Starts to profile this process. The returned function ends the profile, and returns the shares. */
export const startProfile = async (
  kinds: ReadonlyArray<readonly [kind: string, places: RegExp]> = KINDS
): Promise<() => Promise<Shares>> => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.setSamplingInterval", { interval: SAMPLED_EVERY_US })
  await session.post("Profiler.start")
  return async () => {
    const { profile } = await session.post("Profiler.stop")
    session.disconnect()
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
    const spent = new Map<string, number>()
    profile.samples?.forEach((id, n) => {
      const { functionName, url } = frames.get(id)!
      // `dispatch` is the profiler itself.
      if (functionName === "(idle)" || (functionName === "dispatch" && url === "")) return
      const [kind] = kinds.find(([, place]) => place.test(url || functionName))!
      spent.set(kind, (spent.get(kind) ?? 0) + profile.timeDeltas![n]!)
    })
    const all = [...spent.values()].reduce((sum, one) => sum + one, 0)
    return Object.fromEntries(kinds.map(([kind]) => [kind, (spent.get(kind) ?? 0) / all]))
  }
}
