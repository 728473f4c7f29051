import { existsSync, readFileSync } from "node:fs"
import { profiling, type Shares } from "../parts/profile.js"

/** How many shops have a webhook, and how many deliveries may be on their way at once: four a shop (Specification, Webhooks). */
export const SHOPS = 50
/** See {@link SHOPS}. */
export const IN_FLIGHT = 4 * SHOPS

/** Raises so many events of each shop. */
export interface Raise {
  readonly raised: number
}

/** Brings them to a receiver. */
export interface Deliver {
  readonly events: number
  /** Whether to watch on what the process spends its time, which costs time. */
  readonly isWatched?: boolean
}

/** How fast they were brought: all of them, each with its attempt logged. */
export interface Delivered {
  readonly per_second: number
  /** Deliveries in a second of the deliverer's own processor time. */
  readonly per_cpu_second: number
  /** The share of that time which the main thread takes; the others collect garbage and compile. */
  readonly main_share: number
  /** On what the main thread spends its time, if it was watched. */
  readonly shares?: Shares
}

const SCHEDULED = `/proc/self/task/${process.pid}/schedstat`

/** The processor time of the main thread so far, in microseconds; 0 if the system does not measure it. */
const mainThread_us = (): number =>
  existsSync(SCHEDULED) ? Number(readFileSync(SCHEDULED, "utf8").split(" ")[0]) / 1_000 : 0

const KINDS = [
  ["garbage collection", /^\(garbage collector\)/],
  ["Effect, or graphile-worker", /node_modules\/(effect|@effect|graphile-worker)\//],
  ["the driver of Postgres", /node_modules\/pg/],
  ["HTTP: request and response", /packages\/http-node\/|node_modules\/undici\//],
  ["the signature", /crypto|^(Hmac|digest)$|domain\/(Signature|Digest)/],
  ["the store: claims and batches", /packages\/store-pg\//],
  ["the dispatcher and its decisions, or the job", /packages\/core\/|bench\/dist\/deliver\//],
  ["other libraries", /node_modules\//],
  ["Node: sockets, timers, streams", /^/]
] as const

/** Measures one run, which brings so many events. */
export const measured = async (
  deliveries: number,
  run: () => Promise<unknown>,
  isWatched = false
): Promise<Delivered> => {
  const ending = isWatched ? await profiling(KINDS) : undefined
  const [begun, before, main] = [performance.now(), process.cpuUsage(), mainThread_us()]
  await run()
  const seconds = (performance.now() - begun) / 1000
  const { user, system } = process.cpuUsage(before)
  return {
    per_second: deliveries / seconds,
    per_cpu_second: (deliveries * 1e6) / (user + system),
    main_share: (mainThread_us() - main) / (user + system),
    ...(ending !== undefined && { shares: await ending() })
  }
}

/** Gives a shop whose receiver hangs so many events. */
export interface Hang {
  readonly backlog: number
}

/** Raises events of healthy shops for a while, and delivers what is due. */
export interface Compare {
  readonly seconds: number
}
