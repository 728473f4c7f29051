import { acts, views } from "./acts.js"
import { type Complaint, complainOfName } from "./Complaint.js"
import type { Path } from "./Source.js"

/** A field that only some steps may have. */
interface Rule {
  readonly field: string
  readonly isRefused: (does: string, step: Readonly<Record<string, unknown>>) => boolean
  readonly because: (does: string) => string
}

const isAct = (does: string): boolean => does !== "together"

const repeatable = [...acts.values()].filter(({ isRepeatable }) => isRepeatable === true).map(({ name }) => name)

const rules: ReadonlyArray<Rule> = [
  {
    field: "key",
    isRefused: (does) => isAct(does) && acts.get(does)?.actor !== "system",
    because: (does) => `says nothing to ${does}: only calls of the API have a key.`
  },
  {
    field: "idempotency_key",
    isRefused: (does) => isAct(does) && !repeatable.includes(does),
    because: (does) => `says nothing to ${does}: only ${repeatable.join(", ")} have one.`
  },
  {
    field: "expect",
    isRefused: (does) => views.has(does),
    because: (does) => `is ${does} already: what you expect stands behind that.`
  },
  ...["as", "expect", "repeat", "shop", "key", "idempotency_key"].map((field) => ({
    field,
    isRefused: (does: string) => !isAct(does),
    because: () => "belongs to the steps within together."
  })),
  {
    field: "statuses",
    isRefused: (does, step) => isAct(does) && !("repeat" in step),
    because: () => "counts the answers of repeated steps: add repeat, or use expect."
  }
]

/** What a step says that means nothing to it. */
export const misplaced = (
  step: Readonly<Record<string, unknown>>,
  does: string | undefined,
  path: Path
): ReadonlyArray<Complaint> =>
  does === undefined
    ? []
    : rules.flatMap(({ field, isRefused, because }) =>
        field in step && isRefused(does, step) ? [complainOfName([...path, field], because(does))] : []
      )
