import { randomBytes } from "node:crypto"
import { Cause, Duration, Effect, Exit, Option } from "effect"
import type { Answer } from "./Answer.js"
import { Broken } from "./Broken.js"
import type { Case } from "./Case.js"
import type { Inboxes } from "./Inbox.js"
import type { Failure, Result } from "./Result.js"
import { type Ask, type Call, NoAnswer, Wire } from "./Wire.js"
import { CannotReceive, MINUTE, World } from "./World.js"

/** The server under test, and what may be used of it. */
export interface Target {
  readonly ask: Ask
  /** Scheme, host, port and whatever stands before `/v1`, without a slash at its end. */
  readonly origin: string
  /** With one, the cases use the sandbox; null leaves it alone. Without inboxes no webhook can reach the cases. */
  readonly sandbox: { readonly token: string | undefined; readonly inboxes: Inboxes | null } | null
  /** The key of a real shop, where there is no sandbox. */
  readonly key: string | undefined
}

/** How long a case may take. */
const PATIENCE = "5 minutes"

const NO_RECEIVER = "needs webhooks to come here, and only a server on this machine may send them to it"

const NO_SANDBOX = "needs a sandbox: everything that no key can do is done there"

const failureOf = (cause: Cause.Cause<unknown>, wire: Wire): Failure => {
  const error = Cause.squash(cause)
  if (error instanceof Broken)
    return { expected: error.expected, found: error.found, exchange: error.exchange ?? wire.last }
  const found = error instanceof Error ? error.message : String(error)
  return { expected: "the case to come to its end", found, exchange: wire.last }
}

const isLost = (cause: Cause.Cause<unknown>): boolean =>
  Option.getOrUndefined(Cause.failureOption(cause)) instanceof NoAnswer

const answering = <D>(wire: Wire, method: string, path: string, call?: Call): Effect.Effect<Answer<D>, NoAnswer> =>
  Effect.tryPromise({ try: () => wire.send<D>(method, path, call), catch: (error) => error as NoAnswer })

/** The clock of a sandbox stands while the cases run, and goes on as before when they are done. */
const withClock = <A, E>(target: Target, wire: Wire, body: Effect.Effect<A, E>): Effect.Effect<A, E | NoAnswer> => {
  if (target.sandbox === null) return body
  const { token } = target.sandbox
  const read = answering<{ frozen: boolean }>(wire, "GET", "/sandbox/clock", { bearer: token })
  const freeze = (freeze: boolean) => answering(wire, "POST", "/sandbox/clock", { bearer: token, body: { freeze } })
  return Effect.acquireUseRelease(
    Effect.zipLeft(
      Effect.map(read, ({ data }) => data?.frozen === true),
      freeze(true)
    ),
    () => body,
    (frozen) => Effect.catchAll(freeze(frozen), (lost) => Effect.logWarning(lost.message))
  )
}

/** Runs cases one after another, each in shops of its own; ends early only where the server does not answer. */
export const runCases = (
  target: Target,
  cases: ReadonlyArray<Case>,
  onResult: (result: Result) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<ReadonlyArray<Result>, NoAnswer> => {
  const run = randomBytes(4).toString("hex")
  let drawn = 0
  const wire = new Wire(target.ask, target.origin)
  const means = {
    wire,
    run,
    inboxes: target.sandbox?.inboxes ?? null,
    sandboxToken: target.sandbox?.token,
    key: target.sandbox === null ? target.key : undefined,
    next: () => ++drawn,
    pause: (ms: number) => Effect.runPromise(Effect.sleep(ms))
  }

  const runOne = Effect.fnUntraced(function* (one: Case) {
    if (target.sandbox === null && one.needs === "sandbox") {
      return { case: one, outcome: "skipped", duration_ms: 0, because: NO_SANDBOX } satisfies Result
    }
    const world = new World(means)
    wire.last = undefined
    const body = Effect.tryPromise({
      try: async () => {
        // The minute of the address must be fresh too: requests without a good key are counted by it.
        if (target.sandbox !== null) await world.advance(MINUTE)
        await one.run(world)
      },
      catch: (error) => error
    })
    const [took, exit] = yield* Effect.timed(
      Effect.exit(Effect.timeoutFail(body, { duration: PATIENCE, onTimeout: () => new Error(`no end in ${PATIENCE}`) }))
    )
    world.leave()
    const duration_ms = Math.round(Duration.toMillis(took))
    if (Exit.isSuccess(exit)) return { case: one, outcome: "passed", duration_ms } satisfies Result
    // One answer that does not come is a failure; a server that answers nothing any more ends the run.
    if (Cause.squash(exit.cause) instanceof CannotReceive) {
      return { case: one, outcome: "skipped", duration_ms, because: NO_RECEIVER } satisfies Result
    }
    const failure = failureOf(exit.cause, wire)
    if (isLost(exit.cause)) yield* answering(wire, "GET", "/v1/shop")
    return { case: one, outcome: "failed", duration_ms, failure } satisfies Result
  })

  return withClock(
    target,
    wire,
    Effect.forEach(cases, (one) => Effect.tap(runOne(one), onResult))
  )
}
