// Holds every commit since the one that brought this check to what CONTRIBUTING.md says of commits.
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Above so many files the body must give the reason. */
const FILES_WITHOUT_BODY = 3
const SUBJECT_CHARACTERS = 72
/** Words that look like a past tense, a gerund or a third person, and are none. */
const IMPERATIVE = /^(?:Bring|Embed|Exceed|Feed|Focus|Need|Ping|Proceed|Seed|Shed|Speed|Spring|Swing)$/

/** @param {...string} args */
const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim()

/** @typedef {{ subject: string, body: string, files: number }} Commit */

/** @param {Commit} commit */
export const complaintsOf = ({ subject, body, files }) => {
  const [verb = ""] = subject.split(/[\s,:]/)
  return [
    subject.length > SUBJECT_CHARACTERS &&
      `the subject has ${subject.length} characters: at most ${SUBJECT_CHARACTERS}`,
    !/^[A-Z]/.test(subject) && "begin the subject with a capital letter",
    /(?:ed|ing|[^s]s)$/.test(verb) && !IMPERATIVE.test(verb) && `begin with the imperative instead of "${verb}"`,
    subject.endsWith(".") && "end the subject without a full stop",
    files > FILES_WITHOUT_BODY && body === "" && `${files} files changed: give the reason in the body`
  ].filter((complaint) => complaint !== false)
}

/** @param {string} hash @returns {Commit} */
const commitOf = (hash) => {
  const [subject = "", ...body] = git("log", "-1", "--format=%s%n%b", hash).split("\n")
  const files = git("show", "--format=", "--name-only", hash).split("\n").filter(Boolean).length
  // Trailers such as Co-authored-by give no reason.
  return {
    subject,
    body: body
      .filter((line) => !/^[A-Z][A-Za-z-]+: /.test(line))
      .join("")
      .trim(),
    files
  }
}

const history = () => {
  const [start] = git("log", "--diff-filter=A", "--format=%H", "--reverse", "--", "scripts/check-history.mjs").split(
    "\n"
  )
  if (!start || git("rev-parse", "--is-shallow-repository") === "true") return []
  return git("log", "--no-merges", "--format=%H", `${start}..HEAD`).split("\n").filter(Boolean)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const hashes = history()
  const complaints = hashes.flatMap((hash) =>
    complaintsOf(commitOf(hash)).map((complaint) => `${hash.slice(0, 9)}: ${complaint}`)
  )
  for (const complaint of complaints) console.error(complaint)
  console.log(`history: ${hashes.length} commits, ${complaints.length} complaints`)
  process.exitCode = complaints.length > 0 ? 1 : 0
}
