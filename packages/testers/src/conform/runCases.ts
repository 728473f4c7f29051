import { randomBytes } from "node:crypto"
import { Cause, Duration, Effect, Exit } from "effect"
import { type Api, dataOf, NoResponse } from "../testkit/Api.js"
import { MINUTE } from "../testkit/Time.js"
import type { Case } from "./Case.js"
import { CannotReceive, CaseEnvironment } from "./CaseEnvironment.js"
import { ExpectationFailed } from "./Expectations.js"
import type { CaseFailure, CaseResult } from "./Report.js"
import type { ConformTarget } from "./Target.js"

/** The longest time that a case may take. */
const CASE_TIMEOUT = "5 minutes"

const NO_RECEIVER = "the case must receive webhooks, which only a server on this machine can send here"

const NO_SANDBOX = "the case needs a sandbox, because it cannot test its rule with a key alone"

const failureOf = (error: unknown, { lastExchange: last }: Api): CaseFailure => {
  if (error instanceof ExpectationFailed)
    return { expected: error.expected, found: error.actual, exchange: error.exchange ?? last }
  const reason = error instanceof Error ? error.message : String(error)
  return { expected: "the case to finish without an error", found: reason, exchange: last }
}

/** Freezes the clock of a sandbox while the cases run, and restores it afterwards. */
const withFrozenClock = <A, E>(
  { api, sandbox }: ConformTarget,
  body: Effect.Effect<A, E>
): Effect.Effect<A, E | NoResponse> => {
  if (sandbox === null) return body
  const freeze = (freeze: boolean) => api.call("POST", "/sandbox/clock", { body: { freeze } })
  return Effect.acquireUseRelease(
    Effect.zipLeft(
      Effect.map(api.call("GET", "/sandbox/clock"), (clock) => dataOf<{ frozen: boolean }>(clock)?.frozen === true),
      freeze(true)
    ),
    () => body,
    (frozen) => Effect.catchAll(freeze(frozen), (noResponse) => Effect.logWarning(noResponse.message))
  )
}

/** Runs the cases one after another, each in its own shops. It ends early only if the server does not respond. */
export const runCases = (
  target: ConformTarget,
  cases: ReadonlyArray<Case>,
  onResult: (result: CaseResult) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<ReadonlyArray<CaseResult>, NoResponse> => {
  const run = randomBytes(4).toString("hex")
  let drawCount = 0
  const { api } = target
  const resources = {
    api,
    run,
    inboxes: target.sandbox?.inboxes ?? null,
    key: target.sandbox === null ? target.key : undefined,
    next: () => ++drawCount,
    pause: (ms: number) => Effect.runPromise(Effect.sleep(ms))
  }

  const runCase = Effect.fnUntraced(function* (testCase: Case) {
    if (target.sandbox === null && testCase.needs === "sandbox") {
      return { case: testCase, outcome: "skipped", duration_ms: 0, because: NO_SANDBOX } satisfies CaseResult
    }
    const environment = new CaseEnvironment(resources)
    api.lastExchange = undefined
    const body = Effect.tryPromise({
      try: async () => {
        // Each case begins a minute later, because its requests without a valid key need the unused limit of their
        // address.
        if (target.sandbox !== null) await environment.advance(MINUTE)
        await testCase.run(await environment.openShop())
      },
      catch: (error) => error
    })
    const [duration, exit] = yield* Effect.timed(
      Effect.exit(
        Effect.timeoutFail(body, {
          duration: CASE_TIMEOUT,
          onTimeout: () => new Error(`the case did not finish within ${CASE_TIMEOUT}`)
        })
      )
    )
    environment.close()
    const duration_ms = Math.round(Duration.toMillis(duration))
    if (Exit.isSuccess(exit)) return { case: testCase, outcome: "passed", duration_ms } satisfies CaseResult
    // A single missing response is a failure of the case. The run ends if the server no longer responds.
    const error = Cause.squash(exit.cause)
    if (error instanceof CannotReceive) {
      return { case: testCase, outcome: "skipped", duration_ms, because: NO_RECEIVER } satisfies CaseResult
    }
    const failure = failureOf(error, api)
    if (error instanceof NoResponse) yield* api.call("GET", "/v1/shop")
    return { case: testCase, outcome: "failed", duration_ms, failure } satisfies CaseResult
  })

  return withFrozenClock(
    target,
    Effect.forEach(cases, (testCase) => Effect.tap(runCase(testCase), onResult))
  )
}
