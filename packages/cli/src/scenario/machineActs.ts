import { Effect, Schema } from "effect"
import { type Answer, healthy, saying } from "../receive/Behaviour.js"
import type { Act, Doing } from "./Act.js"
import { DURATION, durationMs } from "./Duration.js"
import type { Exchange } from "./Exchange.js"

/** A length of time as it is written in a scenario. */
export const DurationText = Schema.String.pipe(
  Schema.pattern(new RegExp(`^${DURATION}$`), { message: () => "must be a length of time such as 60d, 23h59m or 1ms" })
).annotations({ message: () => "must be a length of time such as 60d, 23h59m or 1ms", examples: ["60d", "23h59m"] })

const WORDS = ["redirect", "cut", "silent", "endless"] as const

const AnswerText = Schema.Union(Schema.Int, Schema.Literal(...WORDS)).annotations({
  message: () => `must be a status such as 200 or 410, or one of ${WORDS.join(", ")}`
})

/** How a receiver behaves: what it answers, how many times before it is healthy again, after how long. */
export const ReceiverText = Schema.Union(
  AnswerText,
  Schema.Struct({
    answers: AnswerText,
    times: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { exact: true }),
    delay: Schema.optionalWith(DurationText, { exact: true })
  })
).annotations({
  message: () => `must be a status such as 200 or 410, one of ${WORDS.join(", ")}, or { answers, times, delay }`
})
export type ReceiverText = typeof ReceiverText.Type

const answerOf = (answers: typeof AnswerText.Type): Answer => {
  if (typeof answers === "number") return saying(answers)
  return answers === "redirect" ? { kind: "redirect", to: "http://127.0.0.1:9/elsewhere" } : { kind: answers }
}

/** The answers one after another: so many of one, then those of a healthy receiver. */
const forTimes = (answer: Answer, times: number): (() => Answer) => {
  let left = times
  return () => {
    left -= 1
    return left >= 0 ? answer : saying(200)
  }
}

/** What a receiver is told, as the receiver understands it. */
export const behaviourOf = (told: ReceiverText) => {
  const { answers, times, delay } =
    typeof told === "object" ? told : { answers: told, times: undefined, delay: undefined }
  const answer = answerOf(answers)
  return {
    ...healthy,
    answer: times === undefined ? answer : forTimes(answer, times),
    delay_ms: delay === undefined ? 0 : (durationMs(delay) ?? 0)
  }
}

const done: Exchange = { call: { method: "", path: "" }, status: 200, headers: {}, body: { success: true, data: {} } }

/** What the receiver of webhooks and the clock do (Specification, Sandbox). */
export const machineActs: ReadonlyArray<Act> = [
  {
    name: "receiver",
    actor: "receiver",
    description: `From now on the shop's receiver answers so: a status, or one of ${WORDS.join(", ")}`,
    takes: ReceiverText,
    perform: (told: ReceiverText, doing: Doing) =>
      Effect.gen(function* () {
        // What is due now goes to the receiver as it was until now.
        yield* doing.clock({ advance_ms: 0 })
        const receiver = yield* doing.receiver
        yield* receiver.behave(behaviourOf(told))
        return done
      })
  },
  {
    name: "advance",
    endpoint: "POST /sandbox/clock",
    actor: "clock",
    description: "Moves the clock on; everything due by then happens, each at its own instant",
    takes: DurationText,
    perform: (length: string, { clock }: Doing) => clock({ advance_ms: durationMs(length) ?? 0 })
  },
  {
    name: "set clock",
    endpoint: "POST /sandbox/clock",
    actor: "clock",
    description: "Moves the clock on to an instant, such as $ticket.ready_at + 60d",
    takes: Schema.String,
    perform: (instant: unknown, { clock }: Doing) => clock({ set: instant })
  },
  {
    name: "freeze clock",
    endpoint: "POST /sandbox/clock",
    actor: "clock",
    description:
      "Lets the clock stand, as it does when a scenario begins, or, against a --base-url, run along with the real one",
    takes: Schema.Boolean,
    perform: (freeze: boolean, { clock }: Doing) => clock({ freeze })
  }
]
