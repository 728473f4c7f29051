import { Effect } from "effect"
import { successOf } from "./Errand.js"
import { type Face, FaceBroken } from "./Face.js"

/** Where a sandbox clock stands, and whether it is frozen. */
export interface ClockState {
  readonly now: number
  readonly frozen: boolean
}

const asked = (face: Face, token: string | null, body?: { readonly freeze: boolean }) =>
  Effect.flatMap(
    face.ask({
      method: body === undefined ? "GET" : "POST",
      path: "/sandbox/clock",
      query: "",
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      fate: "plain",
      pauses: 0
    }),
    (answer): Effect.Effect<ClockState, FaceBroken> => {
      const { now = "", frozen = false } = successOf<{ readonly now: string; readonly frozen: boolean }>(answer) ?? {}
      return Number.isNaN(Date.parse(now))
        ? Effect.fail(
            new FaceBroken({
              message:
                "The server has no sandbox: start it with --sandbox, and give its token in WORKSHOP_SANDBOX_TOKEN."
            })
          )
        : Effect.succeed({ now: Date.parse(now), frozen })
    }
  )

/** Reads the sandbox clock. */
export const readClock = (face: Face, token: string | null): Effect.Effect<ClockState, FaceBroken> => asked(face, token)

const DAY_MS = 86_400_000

const left = (before: ClockState, after: ClockState): string => {
  const days = ((after.now - before.now) / DAY_MS).toFixed(1)
  const state = before.frozen ? "stays frozen, as it was" : "runs again, as it did"
  return `The sandbox clock ${state}; it is at ${new Date(after.now).toISOString()}, ${days} days later, because it never goes back.`
}

/** Runs a program on a sandbox, then freezes its clock or lets it run as it was; says what became of the clock. */
export const leavingClock = <A, E, R>(
  face: Face,
  token: string | null,
  program: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly result: A; readonly clock: string }, E | FaceBroken, R> =>
  Effect.gen(function* () {
    const before = yield* readClock(face, token)
    // A server that is gone has no clock to restore, and its failure is told by the program.
    const restored = Effect.option(asked(face, token, { freeze: before.frozen }))
    const result = yield* Effect.onError(program, () => restored)
    return { result, clock: left(before, yield* asked(face, token, { freeze: before.frozen })) }
  })
