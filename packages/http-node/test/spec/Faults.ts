import { StoreUnavailable } from "@workshop/core"
import { Directory, RateLimits, Reads, Store } from "@workshop/core/store"
import { type Context, Effect, Layer } from "effect"

type Fault = "none" | "unavailable" | "dying"

/** The cause of injected faults, which no response may contain. */
export const SECRET = "postgres://admin:hunter2@db.internal:5432 at select_ticket.sql"

/** The store's ports. A test can make each of them fail, or die with a defect. */
export class Faults {
  readonly #faults = new Map<string, Fault>()

  /** Makes every later call of the port have this fault. */
  set(port: "Store" | "Reads" | "Directory" | "RateLimits", fault: Fault): void {
    this.#faults.set(port, fault)
  }

  get layer() {
    return Layer.mergeAll(
      this.#around(Store, "Store"),
      this.#around(Reads, "Reads"),
      this.#around(Directory, "Directory"),
      this.#around(RateLimits, "RateLimits")
    )
  }

  #around<I, S extends object>(tag: Context.Tag<I, S>, port: string): Layer.Layer<I, never, I> {
    const troubled = (service: S): S =>
      new Proxy(service, {
        get: (target, name) => {
          const method: unknown = Reflect.get(target, name)
          if (typeof method !== "function") return method
          return (...args: ReadonlyArray<unknown>) => {
            const fault = this.#faults.get(port) ?? "none"
            if (fault === "unavailable") return Effect.fail(new StoreUnavailable({ cause: new Error(SECRET) }))
            return fault === "dying" ? Effect.die(new Error(SECRET)) : method.apply(target, [...args])
          }
        }
      })
    return Layer.effect(tag, Effect.map(tag, troubled))
  }
}
