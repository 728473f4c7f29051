import { existsSync, readFileSync } from "node:fs"
import { type Shares, startProfile } from "../parts/profile.js"

/** The number of shops with a webhook. */
export const SHOPS = 50
/** The number of deliveries in flight: four for each shop (Specification, Webhooks). */
export const IN_FLIGHT = 4 * SHOPS

/** A message that makes the program raise a number of events for each shop. */
export interface Raise {
  readonly raised: number
}

/** A message that makes the program deliver the raised events. */
export interface Deliver {
  readonly events: number
  /** True if the process is profiled, which slows it. */
  readonly isWatched?: boolean
}

/** The speed of the deliveries, including the record of each attempt. */
export interface DeliveryResult {
  readonly per_second: number
  /** The deliveries per second of the process's own processor time. */
  readonly per_cpu_second: number
  /** The share of that time in the main thread. The other threads collect garbage and compile. */
  readonly main_share: number
  /** The kinds of work on which the main thread spends its time, if it was profiled. */
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

/** Measures a run that makes a number of deliveries. */
export const measureRun = async (
  deliveries: number,
  run: () => Promise<unknown>,
  isWatched = false
): Promise<DeliveryResult> => {
  const ending = isWatched ? await startProfile(KINDS) : undefined
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

/** A message that makes the program raise a number of events for a shop whose receiver hangs. */
export interface Hang {
  readonly backlog: number
}

/** A message that makes the program raise and deliver events of healthy shops for some seconds. */
export interface Compare {
  readonly seconds: number
}
