import { Data, Effect } from "effect"
import type { YieldWrap } from "effect/Utils"
import type { Entropy } from "../ports/Entropy.js"
import type { StorePorts } from "../ports/StorePorts.js"

/**
 * One promise of the store, as a sentence and an effect that fails where it is broken. A case opens shops and clients
 * of its own, so cases may share a store, also one that holds other data. It runs under a `SettableClock` and
 * with a `RiggedEntropy`, which it sets for itself; hence one case at a time.
 */
export interface ContractCase {
  readonly name: string
  readonly effect: Effect.Effect<void, unknown, StorePorts | Entropy>
}

/** The store did not keep a promise. */
export class ContractBroken extends Data.TaggedError("ContractBroken")<{ readonly message: string }> {}

type Step = YieldWrap<Effect.Effect<unknown, unknown, StorePorts | Entropy>>

/** Names a case. */
export const contractCase = <Y extends Step>(name: string, body: () => Generator<Y, void>): ContractCase => ({
  name,
  effect: Effect.gen<Step, void>(body)
})

/** A value as text: alike for values that differ only in the order of their fields. */
const show = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(show).join(", ")}]`
  if (typeof value === "object" && value !== null && !(value instanceof Error)) {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${fields.map(([name, field]) => `${name}: ${show(field)}`).join(", ")}}`
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}

/** Fails unless two values are alike, field by field. */
export const same = (what: string, actual: unknown, expected: unknown): Effect.Effect<void, ContractBroken> => {
  const [found, wanted] = [show(actual), show(expected)]
  return found === wanted
    ? Effect.void
    : Effect.fail(new ContractBroken({ message: `${what}\n  expected ${wanted}\n  but got  ${found}` }))
}

/** Fails unless it holds. */
export const holds = (what: string, condition: boolean): Effect.Effect<void, ContractBroken> =>
  condition ? Effect.void : Effect.fail(new ContractBroken({ message: what }))
