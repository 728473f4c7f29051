import { Effect, Runtime, type Scope } from "effect"

/** Runs `onKey` for each key typed in the terminal, until the scope closes; Ctrl-C is a key too, `\u0003`. */
export const keyPresses = <A, R>(
  onKey: (key: string) => Effect.Effect<A, never, R>
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const { stdin } = process
    const fork = Runtime.runFork(yield* Effect.runtime<R>())
    const onData = (typed: Buffer) => {
      for (const key of typed.toString("utf8")) fork(onKey(key))
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => stdin.setRawMode(true).on("data", onData).resume()),
      () => Effect.sync(() => stdin.off("data", onData).setRawMode(false).pause())
    )
  })
