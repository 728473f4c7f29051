import { Clock } from "effect"

/** Within this many milliseconds two signals are one: Ctrl-C reaches us from the terminal, and again through `npm start`. */
const ONE_PRESS_MS = 500

/** The first signal ends the process in good order; whoever sends another does not want to wait. */
export const exitAtSecondSignal = (): void => {
  const clock = Clock.make()
  let first: number | undefined
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      const now = clock.unsafeCurrentTimeMillis()
      first ??= now
      if (now - first > ONE_PRESS_MS) process.exit(1)
    })
  }
}
