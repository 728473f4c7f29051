import type { Complaint } from "./Complaint.js"
import type { Problem, Source } from "./Source.js"

type Placed = Problem & Pick<Complaint, "mistake">

const inWords = (lines: ReadonlyArray<number>): string =>
  lines.length === 1
    ? `Line ${lines[0]} is skipped because of it.`
    : `Lines ${lines.slice(0, -1).join(", ")} and ${lines.at(-1)} are skipped because of it.`

/** A mistake with those places after it that meet it again. */
const withFollowers = ({ mistake, ...problem }: Placed, all: ReadonlyArray<Placed>): Problem => {
  const lines = all.filter((other) => mistake !== undefined && other.mistake === mistake).map(({ line }) => line)
  const later = [...new Set(lines)].filter((line) => line !== problem.line)
  return later.length === 0 ? problem : { ...problem, message: `${problem.message} ${inWords(later)}` }
}

/** What is wrong with a file, in its order: at each place the first complaint, and each mistake once. */
export const problemsOf = (complaints: ReadonlyArray<Complaint>, source: Source): ReadonlyArray<Problem> => {
  const found = complaints.map(
    ({ path, message, isOfName, mistake }): Placed => ({
      ...(isOfName ? source.placeOfName(path) : source.place(path)),
      path: path.join("."),
      message: /[.?]$/.test(message) ? message : `${message}.`,
      ...(mistake === undefined ? {} : { mistake })
    })
  )
  const placed = found
    .filter(({ path }, i) => found.findIndex((other) => other.path === path) === i)
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
  return placed
    .filter(({ mistake }, i) => mistake === undefined || placed.findIndex((one) => one.mistake === mistake) === i)
    .map((problem) => withFollowers(problem, placed))
}
