// Checks every commit since the commit that added this check against the rules for commits in CONTRIBUTING.md.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** The largest number of changed files for which a commit needs no body with a reason. */
const FILES_WITHOUT_BODY = 3
const SUBJECT_CHARACTERS = 72
/** The longest line of a body, checked since the commit that added this constant. */
const BODY_COLUMNS = 100
/** Imperatives that look like a past tense, a gerund or a third person. */
const IMPERATIVE = /^(?:Bring|Embed|Exceed|Feed|Focus|Need|Ping|Proceed|Seed|Shed|Speed|Spring|Swing)$/

/** @param {...string} args */
const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim()

/** `columns` is the length of the longest line of the body. @typedef {{ subject: string, body: string, files: number, columns: number }} Commit */

/** @param {Commit} commit */
export const complaintsOf = ({ subject, body, files, columns }) => {
  const [verb = ""] = subject.split(/[\s,:]/)
  return [
    subject.length > SUBJECT_CHARACTERS &&
      `the subject has ${subject.length} characters: at most ${SUBJECT_CHARACTERS}`,
    !/^[A-Z]/.test(subject) && "begin the subject with a capital letter",
    /(?:ed|ing|[^s]s)$/.test(verb) && !IMPERATIVE.test(verb) && `begin with the imperative instead of "${verb}"`,
    subject.endsWith(".") && "end the subject without a full stop",
    files > FILES_WITHOUT_BODY && body === "" && `${files} files changed: give the reason in the body`,
    columns > BODY_COLUMNS && `the body has a line of ${columns} characters: wrap it at ${BODY_COLUMNS} or fewer`
  ].filter((complaint) => complaint !== false)
}

/** The first commit that added a text to this file. @param {...string} search */
const firstWith = (...search) =>
  git("log", ...search, "--format=%H", "--reverse", "--", "scripts/check-history.mjs").split("\n")[0]

/** @param {string} hash @param {boolean} isWrapped @returns {Commit} */
const commitOf = (hash, isWrapped) => {
  const [subject = "", ...body] = git("log", "-1", "--format=%s%n%b", hash).split("\n")
  const files = git("show", "--format=", "--name-only", hash).split("\n").filter(Boolean).length
  // Trailers such as Co-authored-by give no reason.
  return {
    subject,
    body: body
      .filter((line) => !/^[A-Z][A-Za-z-]+: /.test(line))
      .join("")
      .trim(),
    files,
    columns: isWrapped ? Math.max(0, ...body.map(({ length }) => length)) : 0
  }
}

/**
 * The commits that `git blame` skips although the branch does not have them. A rebase gives commits new hashes.
 * @param {string} file @param {ReadonlySet<string>} branch
 */
export const lostRevisions = (file, branch) =>
  file.split("\n").filter((line) => /^[0-9a-f]{40}$/.test(line) && !branch.has(line))

const isShallow = () => git("rev-parse", "--is-shallow-repository") === "true"

const history = () => {
  const start = firstWith("--diff-filter=A")
  if (!start || isShallow()) return []
  return git("log", "--no-merges", "--format=%H", `${start}..HEAD`).split("\n").filter(Boolean)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const hashes = history()
  const wrapped = firstWith("-S", "BODY_COLUMNS = ")
  const wrappedHashes = new Set(wrapped ? git("log", "--format=%H", `${wrapped}..HEAD`).split("\n") : [])
  const complaints = hashes.flatMap((hash) =>
    complaintsOf(commitOf(hash, wrappedHashes.has(hash))).map((complaint) => `${hash.slice(0, 9)}: ${complaint}`)
  )
  const branch = new Set(git("log", "--format=%H").split("\n"))
  for (const hash of isShallow() ? [] : lostRevisions(readFileSync(".git-blame-ignore-revs", "utf8"), branch))
    complaints.push(`.git-blame-ignore-revs names ${hash}, which is no commit of this branch: write its new hash`)
  for (const complaint of complaints) console.error(complaint)
  console.log(`history: ${hashes.length} commits, ${complaints.length} complaints`)
  process.exitCode = complaints.length > 0 ? 1 : 0
}
