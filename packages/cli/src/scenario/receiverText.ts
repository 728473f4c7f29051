import { DURATION, durationMs } from "@workshop/core"
import { Schema } from "effect"
import { healthy } from "../receive/Receiver.js"
import { type Reply, saying } from "../testkit/Receiver.js"

/** A length of time as it is written in a scenario. */
export const DurationText = Schema.String.pipe(
  Schema.pattern(new RegExp(`^${DURATION}$`), { message: () => "must be a length of time such as 60d, 23h59m or 1ms" })
).annotations({ message: () => "must be a length of time such as 60d, 23h59m or 1ms", examples: ["60d", "23h59m"] })

/** The replies of a receiver that are not a status. */
export const WORDS = ["redirect", "cut", "silent", "endless"] as const

const AnswerText = Schema.Union(Schema.Int, Schema.Literal(...WORDS)).annotations({
  message: () => `must be a status such as 200 or 410, or one of ${WORDS.join(", ")}`
})

/** The behaviour of a receiver: its reply, how many times until it is healthy again, and its delay. */
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

const replyOf = (answers: typeof AnswerText.Type): Reply => {
  if (typeof answers === "number") return saying(answers)
  return answers === "redirect" ? { kind: "redirect", to: "http://127.0.0.1:9/elsewhere" } : { kind: answers }
}

/** A reply so many times, then that of a healthy receiver. */
const forTimes = (reply: Reply, times: number): (() => Reply) => {
  let left = times
  return () => {
    left -= 1
    return left >= 0 ? reply : saying(200)
  }
}

/** A behaviour from its text in a scenario. */
export const behaviourOf = (text: ReceiverText) => {
  const { answers, times, delay } =
    typeof text === "object" ? text : { answers: text, times: undefined, delay: undefined }
  const reply = replyOf(answers)
  return {
    ...healthy,
    answer: times === undefined ? reply : forTimes(reply, times),
    delay_ms: delay === undefined ? 0 : (durationMs(delay) ?? 0)
  }
}
