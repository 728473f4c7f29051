import type { checks } from "../../src/simulate/auditor/audit.js"
import type { Breach } from "../../src/simulate/auditor/Breach.js"
import type { Trace } from "../../src/simulate/auditor/Trace.js"

/** A mutable version of a type. */
export type Open<T> = T extends (...args: never) => unknown ? T : { -readonly [K in keyof T]: Open<T[K]> }

export type OpenTrace = Open<Trace>
export type SeenShop = OpenTrace["shops"][number]
export type SeenExchange = OpenTrace["exchanges"][number]
// biome-ignore lint/suspicious/noExplicitAny: the body is untyped JSON
export type Json = any

/** A change to a trace that breaks a rule, and the check that must report it. */
export interface Corruption {
  readonly name: string
  readonly rule: keyof typeof checks
  readonly breaks: Breach["anchor"]
  readonly lie: (seen: OpenTrace) => void
}

/** The run has no record that the corruption could change. */
export class NoExample extends Error {}

/** The first record that is not undefined. Throws if there is none, because the test would then prove nothing. */
export const first = <A>(all: Iterable<A | undefined>): A => {
  for (const one of all) if (one !== undefined) return one
  throw new NoExample("No run has an example of this: choose other seeds")
}

export const eventOf = (seen: OpenTrace, fits: (event: SeenShop["events"][number], shop: SeenShop) => boolean) =>
  first(
    seen.shops.map((shop) => {
      const i = shop.events.findIndex((event) => fits(event, shop))
      return i === -1 ? undefined : { shop, i, event: shop.events[i]! }
    })
  )

export const exchangeOf = (seen: OpenTrace, fits: (exchange: SeenExchange) => boolean): SeenExchange =>
  first([seen.exchanges.find(fits)])

export const dataOf = (exchange: SeenExchange): Json => exchange.response?.body.data

export const isStatus =
  (status: number, path: RegExp, method = "POST") =>
  (exchange: SeenExchange): boolean =>
    exchange.method === method && path.test(exchange.path) && exchange.response?.status === status

/** An ISO instant, moved by `ms`. */
export const shiftInstant = (iso: string | null, ms: number): string =>
  new Date(Date.parse(iso ?? "") + ms).toISOString()

/** Inserts copies of an exchange directly after it. */
export const repeat = (
  seen: OpenTrace,
  exchange: SeenExchange,
  times: number,
  change: (copy: SeenExchange, n: number) => void = () => {}
) => {
  const copies = Array.from({ length: times }, (_, n) => {
    const copy = structuredClone(exchange)
    change(copy, n)
    return copy
  })
  seen.exchanges.splice(seen.exchanges.indexOf(exchange) + 1, 0, ...copies)
}
