import { DURATION, durationMs, toIso } from "@workshop/core/internal"
import { Data, DateTime, Effect, Predicate, Schema } from "effect"
import { healthy } from "../receive/Receiver.js"
import { type Reply, statusReply } from "../testkit/LoopbackServer.js"

/** The values of a scenario's names: the shops, clients and keys that are given, and what steps have captured. */
export interface Names {
  readonly values: ReadonlyMap<string, unknown>
  /** The instant of the clock, in ISO 8601. */
  readonly now: string
}

/** A reference in a text: `$t.money.price_minor`, `$now + 60d`. */
export interface Reference {
  readonly text: string
  readonly name: string
  readonly path: ReadonlyArray<string>
  /** The milliseconds to add to the referenced instant. */
  readonly shift_ms: number | null
}

/** A reference has no value; the message says why. */
export class ReferenceUnknown extends Data.TaggedError("ReferenceUnknown")<{ readonly message: string }> {}

/** The pattern of a duration without `^` and `$`. */
const DURATION_SOURCE = DURATION.source.slice(1, -1)
const REFERENCE_SOURCE = String.raw`([A-Za-z_]\w*)((?:\.[\w-]+)*)(?:\s*([+-])\s*(${DURATION_SOURCE}))?`
const WHOLE_REFERENCE = new RegExp(String.raw`^\$${REFERENCE_SOURCE}$`)
const BRACED_TEXT = /\$\{([^{}]*)\}/g
const BRACED_REFERENCE = new RegExp(`^${REFERENCE_SOURCE}$`)

const referenceOf = (text: string, parts: RegExpExecArray | null): Reference | undefined => {
  if (parts === null) return undefined
  const [, name = "", path = "", sign, duration] = parts
  const shift = duration === undefined ? null : (durationMs(duration) ?? 0) * (sign === "-" ? -1 : 1)
  return { text, name, path: path.split(".").slice(1), shift_ms: shift }
}

/** The reference if the whole text is one. */
export const wholeReference = (text: string): Reference | undefined => referenceOf(text, WHOLE_REFERENCE.exec(text))

/** Every `${…}` within a text, with its reference if it is valid. */
export const bracedReferencesIn = (
  text: string
): ReadonlyArray<{ readonly text: string; readonly reference?: Reference }> =>
  [...text.matchAll(BRACED_TEXT)].map(([braced, inner = ""]) => {
    const reference = referenceOf(braced, BRACED_REFERENCE.exec(inner.trim()))
    return reference === undefined ? { text: braced } : { text: braced, reference }
  })

const describeFields = (value: unknown): string => {
  if (Array.isArray(value)) return `a list of ${value.length} entries`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "nothing"
  return `an object with ${Object.keys(value).join(", ")}`
}

const ownField = (value: unknown, field: string): unknown =>
  Predicate.isObject(value) && Object.hasOwn(value, field) ? value[field as keyof typeof value] : undefined

const throwUnknown = (message: string): never => {
  throw new ReferenceUnknown({ message })
}

/** Computes with values that contain references; fails if one of them has no value. */
export const withReferences = <A>(compute: () => A): Effect.Effect<A, ReferenceUnknown> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(compute())
    } catch (error) {
      return error instanceof ReferenceUnknown ? Effect.fail(error) : Effect.die(error)
    }
  })

const shiftInstant = (value: unknown, { text, shift_ms }: Reference): unknown => {
  if (shift_ms === null) return value
  const instant = typeof value === "string" ? Date.parse(value) : Number.NaN
  if (Number.isNaN(instant))
    throwUnknown(`${text}: a length of time can be added only to an instant, but the value is ${describeFields(value)}`)
  return toIso(instant + shift_ms)
}

/** The value of a reference. Throws {@link ReferenceUnknown}. */
export const lookUp = (reference: Reference, names: Names): unknown => {
  const { text, name, path } = reference
  if (name === "now") return shiftInstant(names.now, reference)
  if (!names.values.has(name)) throwUnknown(`${text}: no earlier step has captured the name ${name}`)
  let value = names.values.get(name)
  let walked = `$${name}`
  for (const field of path) {
    const inner = ownField(value, field)
    if (inner === undefined)
      throwUnknown(`${text}: ${walked} has no field ${field}, because it is ${describeFields(value)}`)
    value = inner
    walked = `${walked}.${field}`
  }
  return shiftInstant(value, reference)
}

const toText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

/**
 * Replaces the references in a text. If the whole text is one reference, the result is its value; otherwise it is a
 * text. Throws {@link ReferenceUnknown}.
 */
export const resolveText = (text: string, names: Names): unknown => {
  // Two dollar signs at the beginning are an escaped dollar sign.
  if (text.startsWith("$$")) return text.slice(1)
  const whole = wholeReference(text)
  if (whole !== undefined) return lookUp(whole, names)
  return bracedReferencesIn(text).reduce((result, { text: braced, reference }) => {
    if (reference === undefined) return throwUnknown(`${braced} is not a reference. Write it as \${ticket.id}`)
    return result.replace(braced, toText(lookUp(reference, names)).replaceAll("$", "$$$$"))
  }, text)
}

/** A field for an id gets the id of the referenced object: `client_id: $amira` is her id. */
const idOrValue = (field: string, value: unknown): unknown =>
  /(?:^|_)id$/.test(field) && typeof ownField(value, "id") === "string" ? ownField(value, "id") : value

const resolveValue = (value: unknown, names: Names): unknown => {
  if (typeof value === "string") return resolveText(value, names)
  if (Array.isArray(value)) return value.map((inner) => resolveValue(inner, names))
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([field, inner]) => [field, idOrValue(field, resolveValue(inner, names))])
  return Object.fromEntries(entries)
}

/** Replaces all references in a value, at any depth. */
export const resolve = (value: unknown, names: Names) => withReferences(() => resolveValue(value, names))

/** A duration in a scenario. */
export const DurationText = Schema.String.pipe(
  Schema.pattern(DURATION, { message: () => "must be a length of time such as 60d, 23h59m or 1ms" })
).annotations({ message: () => "must be a length of time such as 60d, 23h59m or 1ms", examples: ["60d", "23h59m"] })

/** The replies of a receiver that are not a status. */
export const RECEIVER_WORDS = ["redirect", "cut", "silent", "endless"] as const

const ReplyText = Schema.Union(Schema.Int, Schema.Literal(...RECEIVER_WORDS)).annotations({
  message: () => `must be a status such as 200 or 410, or one of ${RECEIVER_WORDS.join(", ")}`
})

/** The behaviour of a receiver: its reply, how many times until it is healthy again, and its delay. */
export const ReceiverText = Schema.Union(
  ReplyText,
  Schema.Struct({
    answers: ReplyText,
    times: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { exact: true }),
    delay: Schema.optionalWith(DurationText, { exact: true })
  })
).annotations({
  message: () =>
    `must be a status such as 200 or 410, one of ${RECEIVER_WORDS.join(", ")}, or { answers, times, delay }`
})
export type ReceiverText = typeof ReceiverText.Type

const replyOf = (answers: typeof ReplyText.Type): Reply => {
  if (typeof answers === "number") return statusReply(answers)
  return answers === "redirect" ? { kind: "redirect", to: "http://127.0.0.1:9/elsewhere" } : { kind: answers }
}

/** Replies with `reply` the given number of times, then as a healthy receiver. */
const makeLimitedReply = (reply: Reply, times: number): (() => Reply) => {
  let remainingTimes = times
  return () => {
    remainingTimes -= 1
    return remainingTimes >= 0 ? reply : statusReply(200)
  }
}

/** The behaviour that a text in a scenario describes. */
export const behaviourOf = (text: ReceiverText) => {
  const { answers, times, delay } =
    typeof text === "object" ? text : { answers: text, times: undefined, delay: undefined }
  const reply = replyOf(answers)
  return {
    ...healthy,
    reply: times === undefined ? reply : makeLimitedReply(reply, times),
    delay_ms: delay === undefined ? 0 : (durationMs(delay) ?? 0)
  }
}

/** A time of day, such as `23:59:59.999`. */
export const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?$/

/** The first instant from `now` on at which a zone's clocks show a time of day. */
export const nextTimeOfDay = (text: string, time_zone: string, now: number): number => {
  const [hours = 0, minutes = 0, rest = 0] = text.split(":").map(Number)
  const [seconds, millis] = [Math.floor(rest), Math.round((rest % 1) * 1000)]
  const today = DateTime.setParts(DateTime.unsafeMakeZoned(now, { timeZone: time_zone }), {
    ...{ hours, minutes, seconds, millis }
  })
  const at = DateTime.toEpochMillis(today)
  return at >= now ? at : DateTime.toEpochMillis(DateTime.add(today, { days: 1 }))
}
