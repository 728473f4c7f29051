/** How many shops have a webhook, and how many deliveries may be on their way at once: four a shop (Specification, Webhooks). */
export const SHOPS = 50
/** See {@link SHOPS}. */
export const IN_FLIGHT = 4 * SHOPS

/** Brings so many events of each shop to a receiver. */
export interface Deliver {
  readonly events: number
}

/** How fast they were brought: all of them, each with its attempt logged. */
export interface Delivered {
  readonly per_second: number
  /** Deliveries in a second of the deliverer's own processor time. */
  readonly per_cpu_second: number
}

/** Measures one run, which brings so many events. */
export const measured = async (deliveries: number, run: () => Promise<unknown>): Promise<Delivered> => {
  const [begun, before] = [performance.now(), process.cpuUsage()]
  await run()
  const seconds = (performance.now() - begun) / 1000
  const { user, system } = process.cpuUsage(before)
  return { per_second: deliveries / seconds, per_cpu_second: (deliveries * 1e6) / (user + system) }
}

/** Gives a shop whose receiver hangs so many events. */
export interface Hang {
  readonly backlog: number
}

/** Raises events of healthy shops for a while, and delivers what is due. */
export interface Compare {
  readonly seconds: number
}
