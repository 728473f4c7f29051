import { acts, views } from "./acts.js"
import { successOf } from "./answerShapes.js"
import { type Complaint, complain } from "./Complaint.js"
import type { Fields } from "./Fields.js"
import { anything, follow, type Shape } from "./Shape.js"
import type { Path } from "./Source.js"

/** What a step names, and what is known of it. */
export interface Capture {
  readonly name: string
  readonly shape: Shape
  readonly complaints: ReadonlyArray<Complaint>
}

const PLACES = ["status", "data", "meta", "error", "headers", "body"]

const isRefusal = (status: unknown): boolean => !/^2\d\d\b/.test(String(status))

/** Whether a step may be answered with a refusal, of which nothing is known beforehand. */
const maySayNo = ({ expect, statuses }: Fields): boolean => {
  if (typeof statuses === "object" && statuses !== null && Object.keys(statuses).some(isRefusal)) return true
  if (expect === undefined) return false
  if (typeof expect !== "object" || expect === null) return isRefusal(expect)
  const { status = 200 } = expect as Fields
  return "error" in expect || "body" in expect || isRefusal(status)
}

const answerOf = (step: Fields): Shape => {
  const name = Object.keys(step).find((field) => acts.has(field) || views.has(field)) ?? ""
  const endpoint = (acts.get(name) ?? views.get(name))?.endpoint
  return endpoint === undefined || maySayNo(step) ? anything : successOf(endpoint)
}

const capture = (answer: Shape, name: string, place: string, path: Path): Capture => {
  const [first = "", ...rest] = place.split(".")
  if (!PLACES.includes(first)) {
    const complaint = complain(path, `${place} is no place in an answer: begin with ${PLACES.join(", ")}.`)
    return { name, shape: anything, complaints: [complaint] }
  }
  const found = follow(answer, [first, ...rest], "the answer")
  return "astray" in found
    ? { name, shape: anything, complaints: [complain(path, found.astray)] }
    : { name, shape: found.shape, complaints: [] }
}

/** What a step names with `as`. */
export const capturesOf = (step: Fields, path: Path): ReadonlyArray<Capture> => {
  const { as } = step
  const answer = answerOf(step)
  if (typeof as === "string") return [{ ...capture(answer, as, "data", path), complaints: [] }]
  if (typeof as !== "object" || as === null) return []
  return Object.entries(as).map(([name, place]) => capture(answer, name, String(place), [...path, "as", name]))
}
