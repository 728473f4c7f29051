import { Effect } from "effect"
import type { Act, Doing, Look, StepBroken } from "./Act.js"
import type { Exchange } from "./Exchange.js"
import { match } from "./Expectation.js"
import type { Mismatch } from "./Mismatch.js"
import { matchAnswer, placesOf } from "./matchAnswer.js"
import { lookUp, type Names, resolve, wholeReference } from "./Names.js"
import type { Step } from "./readScenario.js"
import type { Stage } from "./Stage.js"

/** What came of a step that was made: nothing to complain of, or what was not as expected. */
export interface Outcome {
  /** The step, or the one within it, that the outcome is of. */
  readonly step: Step
  readonly mismatches: ReadonlyArray<Mismatch>
  /** Where there was a request. */
  readonly exchange: Exchange | null
  readonly status: number | null
}

const isLook = (does: Step["does"]): does is Look => typeof does === "object" && "see" in does

/** A place in what was answered, such as `meta.next_cursor`. */
const placeIn = (found: unknown, path: string, names: Names) =>
  Effect.suspend(() => {
    const reference = wholeReference(
      `$answer.${path.replace(/^headers\.(.*)$/, (_, name: string) => `headers.${name.toLowerCase()}`)}`
    )
    const values = new Map([["answer", found]])
    return reference === undefined ? Effect.succeed(undefined) : lookUp(reference, { ...names, values })
  })

const capture = Effect.fnUntraced(function* (stage: Stage, { captures }: Step, found: unknown, names: Names) {
  for (const { name, path } of captures) stage.name(name, yield* placeIn(found, path, names))
})

const look = Effect.fnUntraced(function* (stage: Stage, step: Step, does: Look, doing: Doing) {
  const seen = yield* does.see(doing)
  const mismatches = yield* match(does.expand(step.argument), seen, doing.names)
  yield* capture(stage, step, { data: seen }, doing.names)
  return { step, mismatches, exchange: null, status: null } satisfies Outcome
})

const act = Effect.fnUntraced(function* (stage: Stage, step: Step, does: Act, doing: Doing, isFree: boolean) {
  const argument = yield* resolve(step.argument, doing.names)
  const exchange = yield* does.perform(argument as never, doing)
  const mismatches = step.expect === undefined && isFree ? [] : yield* matchAnswer(step.expect, exchange, doing.names)
  if (mismatches.length === 0) yield* capture(stage, step, placesOf(exchange), doing.names)
  return {
    step,
    mismatches,
    exchange: exchange.call.method === "" ? null : exchange,
    status: exchange.status
  } satisfies Outcome
})

/** Makes a step once. `isFree` where any status will do, as they are counted. */
const once = Effect.fnUntraced(function* (
  stage: Stage,
  step: Step,
  { n, isFree }: { readonly n: number | undefined; readonly isFree: boolean }
): Effect.fn.Return<Outcome, StepBroken> {
  const doing = yield* stage.doing(step, stage.names(n))
  if (isLook(step.does)) return yield* look(stage, step, step.does, doing)
  if (step.does === "together") return { step, mismatches: [], exchange: null, status: null }
  return yield* act(stage, step, step.does, doing, isFree)
})

const timesOf = ({ repeat }: Step): ReadonlyArray<number | undefined> =>
  repeat === undefined ? [undefined] : Array.from({ length: repeat }, (_, i) => i + 1)

const counted = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, n]) => `${status}: ${n}`)
    .join(", ") || "none"

const tally = (step: Step, outcomes: ReadonlyArray<Outcome>): Outcome => {
  const counts = new Map<string, number>()
  for (const { status } of outcomes)
    if (status !== null) counts.set(String(status), (counts.get(String(status)) ?? 0) + 1)
  const expected = counted(new Map(Object.entries(step.statuses ?? {})))
  const actual = counted(counts)
  const mismatches = expected === actual ? [] : [{ path: "statuses", expected, actual }]
  const unexpected = outcomes.find(({ status }) => !(String(status) in (step.statuses ?? {})))
  return { step, mismatches, exchange: unexpected?.exchange ?? null, status: null }
}

const isBad = ({ mismatches }: Outcome): boolean => mismatches.length > 0

/** Makes a step, as often as it says and all at once where it says so. Of several outcomes, the first that is bad. */
export const performStep = Effect.fnUntraced(function* (
  stage: Stage,
  step: Step
): Effect.fn.Return<Outcome, StepBroken> {
  yield* stage.refresh
  const isFree = step.statuses !== undefined
  const tasks = (step.does === "together" ? step.together : [step]).flatMap((one) =>
    timesOf(one).map((n) => once(stage, one, { n, isFree: isFree || one.statuses !== undefined }))
  )
  const outcomes: Array<Outcome> = []
  if (step.does === "together") outcomes.push(...(yield* Effect.all(tasks, { concurrency: "unbounded" })))
  else {
    for (const task of tasks) {
      outcomes.push(yield* task)
      if (isBad(outcomes.at(-1)!)) break
    }
  }
  const bad = outcomes.find(isBad)
  if (bad !== undefined || step.statuses === undefined) return bad ?? outcomes[0]!
  return tally(step, outcomes)
})
