import type { ServerResponse } from "node:http"
import { Clock, Effect, Schedule } from "effect"
import type { Answer } from "./Behaviour.js"

const CHUNK = Buffer.alloc(16_384, ".")

/** Writes as fast as the other side reads, until it leaves. */
const pourOut = (response: ServerResponse) =>
  Effect.async<never>(() => {
    const pour = () => {
      while (!response.destroyed && response.write(CHUNK)) {}
    }
    response.on("drain", pour)
    pour()
  })

const trickle = (response: ServerResponse) =>
  Effect.repeat(
    Effect.sync(() => response.write(".")),
    Schedule.spaced("1 second")
  )

const acts: {
  readonly [Kind in Answer["kind"]]: (
    response: ServerResponse,
    answer: Answer & { kind: Kind }
  ) => Effect.Effect<unknown>
} = {
  status: (response, { status }) => Effect.sync(() => response.writeHead(status).end()),
  redirect: (response, { to }) => Effect.sync(() => response.writeHead(307, { location: to }).end()),
  endless: (response) =>
    Effect.zipRight(
      Effect.sync(() => response.writeHead(200)),
      pourOut(response)
    ),
  trickle: (response) =>
    Effect.zipRight(
      Effect.sync(() => response.writeHead(200)),
      trickle(response)
    ),
  silent: () => Effect.never,
  cut: (response) => Effect.sync(() => response.destroy())
}

/** Answers, after a delay in real milliseconds. To be interrupted when the other side leaves. */
export const giveAnswer = (response: ServerResponse, answer: Answer, delay_ms: number): Effect.Effect<void> => {
  const act = acts[answer.kind] as (response: ServerResponse, answer: Answer) => Effect.Effect<unknown>
  return Effect.asVoid(
    Effect.zipRight(delay_ms > 0 ? Effect.sleep(delay_ms) : Effect.void, act(response, answer))
  ).pipe(
    // Patience is real time, whatever clock the service goes by.
    Effect.withClock(Clock.make())
  )
}
