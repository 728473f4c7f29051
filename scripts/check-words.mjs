// Checks that comments, pages and titles of tests are plain English: a sentence begins with its actor, and not with
// "What" or "Whoever", and has verbs such as notifies, returns or reports. The names of locals in the packages must be
// specific. The comments of tests are counted separately. The counts in scripts/plain-english.json may only go down.
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"

const LIMITS = "scripts/plain-english.json"

/** @typedef {{ path: string, line: number, text: string }} Sentence */

/**
 * The patterns to avoid in comments, titles and pages, and with `inMessages` also in the texts that the packages print.
 * @type {Record<string, { pattern: RegExp, instead: string, inMessages?: true }>}
 */
const patterns = {
  headless: {
    pattern: /^(What|Who|Whoever|Whom|Whose|Whatever|However (many|much|long|often)|That which)\b[^?]*$/,
    instead: "begin with the thing itself: 'The flags that every command has', not 'What every command has'"
  },
  told: { pattern: /\b(told|tells?|telling)\b/i, instead: "notified, reported, returned, passed, shows, says" },
  stands: {
    pattern: /\b(stands|stood|standing) (in|beside|there|at|on|once|behind|with|so|above|below)\b/i,
    instead: "is, appears"
  },
  anew: { pattern: /\banew\b/i, instead: "again", inMessages: true },
  besides: { pattern: /\bbesides\b/i, instead: "in addition to, other than", inMessages: true },
  whatever: { pattern: /\bwhatever\b/i, instead: "every, any, even if", inMessages: true },
  "nobody that": { pattern: /\bnobody (that|who)\b/i, instead: "no client, no process", inMessages: true },
  "the present": {
    pattern:
      /\b(the|its|their|a shop's|this) present (?!moment\b)\w+|\b(to|by|after|ahead of|than|of|from) the present\b/i,
    instead: "the current state, the current time"
  },
  "which is that of": {
    pattern:
      /\b(is|are|was|were|as|beside|below|with|to|from|than|and|or|except) that of\b|\b(is|are|was|were|except) those of\b/i,
    instead: "the noun again: 'has the message of the store', not 'that of the store'"
  },
  "other than": {
    pattern: /\b(an)?other (?!words\b)\w+ than\b/i,
    instead: "'a schema that is not the directory's', 'differs from', 'any method except POST'"
  },
  "a process of its own": {
    pattern: /\b(a|an) \w+ of (its|their|our|one's) own\b(?! \w)|\bof ours\b/i,
    instead: "its own process, a separate process, this project's packages"
  },
  "also for": {
    pattern: /, also (for|if|in|on|with|when|after|as|those|a|an|the|at|by|to|of)\b/i,
    instead: "even for, including, too"
  },
  "the latter": {
    pattern: /\bthe (latter|former)(?! release| number)\b/i,
    instead: "the noun again"
  },
  "the one before": {
    pattern:
      /\b(the|a|an) (one|attempt|page|address|secret|photo|program|release|event) before\b(?! (the|a|an|it|its|this|each|that)\b)/i,
    instead: "the previous attempt, the previous page"
  },
  "answer of HTTP": {
    pattern:
      /\banswer(s|ed)? (with |by |a |an )?([1-5]\d\d\b|(a |the )?requests?\b)|\b(server|service|receiver|node|database|store|API|process|mount|sandbox)s? answer(s|ed)?\b|\b(first|last|lost|HTTP) answers?\b|\bin the answer\b/i,
    instead: "responds, response",
    inMessages: true
  }
}

const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { encoding: "utf8" })
  .split("\n")
  .filter((path) =>
    /^(packages\/[^/]+\/src|packages\/console\/app|bench\/src|proof)\/.*\.tsx?$|\.mjs$|\.test\.ts$|(^|\/)README\.md$|^(CONTRIBUTING|SECURITY)\.md$|^docs\/[^/]+\.md$/.test(
      path
    )
  )

/** The sentences of a text, without code. @param {string} text */
const sentencesIn = (text) =>
  text
    .replaceAll(/`[^`]*`/g, "code")
    .split(/(?<=[.:;!?])\s+/)
    .map((sentence) => sentence.trim())

/** The sentences of a source's comments. @param {string} path @param {string} text @returns {Sentence[]} */
const ofSource = (path, text) =>
  [...text.matchAll(/\/\*\*?([\s\S]*?)\*\/|^[ \t]*\/\/ ?(.*)$/gm)].flatMap((match) => {
    const line = text.slice(0, match.index).split("\n").length
    const comment = (match[1] ?? match[2] ?? "").replace(/@(param|returns|type|typedef)\b[\s\S]*/, "")
    const prose = comment.replaceAll(/\n\s*\* ?/g, " ").trim()
    return sentencesIn(prose).map((sentence) => ({ path, line, text: sentence }))
  })

/** Matches a title. The title of a test with rows is in a second call, as in `it.each([…])("…", …)`. */
const TITLE = /(?:\b(?:it|test|describe)\w*(?:\.\w+)*|\))\(\s*(["`])((?:\\.|(?!\1)[^\\\n])*)\1,/g

/**
 * The titles of tests and conformance cases. A title may begin in lower case.
 * @param {string} path
 * @param {string} text
 * @returns {Sentence[]}
 */
const titlesIn = (path, text) =>
  [...text.matchAll(TITLE)].flatMap(({ index, 2: title = "" }) =>
    sentencesIn(`${title.charAt(0).toUpperCase()}${title.slice(1)}`).map((sentence) => ({
      path,
      line: text.slice(0, index).split("\n").length,
      text: sentence
    }))
  )

const VERB =
  "is|are|was|were|can|cannot|could|must|may|might|has|have|had|does|do|did|goes|gets|gives|keeps|takes|lets|makes|says|shows|sends|accepts|refuses|returns|responds|prints|finds|fails|passes|waits|begins|ends|stops|runs|works|becomes|creates|adds|removes|asks|expects|breaks|loses|needs|stays|sets|drops|cuts|redirects|rejects|throws|counts|leaves"
/** Verbs that can also be nouns, as in `names are unique`. */
const VERB_OR_NOUN =
  "names|reads|writes|reports|lists|moves|changes|uses|starts|marks|limits|repeats|replays|claims|calls|checks|copies|keep|lose|take|give|send|repeat|return|refuse|accept|leave|use|continue|name|cost"
const DETERMINER = "the|a|an|no|what|only|nothing|every|each|its|their|all|both|one|two|whether|as|with|if"
/** Matches a title that begins without a subject, or that is only a cell of a table. */
const WITHOUT_SUBJECT = new RegExp(`^(?:(?:${VERB}) |(?:${VERB_OR_NOUN}) (?:${DETERMINER})\\b|one that |%[a-z]$)`)

/** The titles without a subject, which cannot be understood without the block around them. */
const titlesWithoutSubject = () =>
  files
    .filter((path) => path.endsWith(".test.ts"))
    .flatMap((path) => {
      const text = readFileSync(path, "utf8")
      return [...text.matchAll(TITLE)].flatMap(({ index, 2: title = "" }) =>
        WITHOUT_SUBJECT.test(title) ? [{ path, line: text.slice(0, index).split("\n").length, text: title }] : []
      )
    })

/**
 * The sentences of a page outside its blocks of code.
 * @param {string} path
 * @param {string} text
 * @returns {Sentence[]}
 */
const ofPage = (path, text) => {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, (block) => "\n".repeat(block.split("\n").length - 1))
  return prose.split("\n").flatMap((line, i) =>
    line
      .split("|")
      .flatMap((cell) => sentencesIn(cell.replace(/^[\s#>*-]+/, "").replaceAll("**", "")))
      .map((sentence) => ({ path, line: i + 1, text: sentence }))
  )
}

const sentences = files.flatMap((path) => {
  const text = readFileSync(path, "utf8")
  if (path.endsWith(".md")) return ofPage(path, text)
  return path.endsWith(".test.ts") && !path.startsWith("proof/")
    ? titlesIn(path, text)
    : [...ofSource(path, text), ...titlesIn(path, text)]
})

/** The sentences of the comments of tests, of the modules beside them, of benchmarks, proofs and examples. */
const inTests = execFileSync(
  "git",
  [
    "ls-files",
    "-co",
    "--exclude-standard",
    "packages/*/test/*.ts",
    "test/*.ts",
    "bench/*.ts",
    "proof/*.ts",
    "examples/*.ts",
    "examples/*.mjs"
  ],
  {
    encoding: "utf8"
  }
)
  .split("\n")
  .filter((path) => path !== "" && existsSync(path))
  .flatMap((path) => ofSource(path, readFileSync(path, "utf8")))

/**
 * The texts in the packages' sources with several words, such as messages and descriptions.
 * @type {ReadonlyArray<Sentence>}
 */
const messages = files
  .filter((path) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !path.includes("/generated/"))
  .flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .flatMap((code, i) =>
        /^\s*(\*|\/\/|\/\*)/.test(code)
          ? []
          : [...code.matchAll(/(["`])((?:\\.|(?!\1).)*? (?:\\.|(?!\1).)*)\1/g)].map(({ 2: text = "" }) => ({
              path,
              line: i + 1,
              text
            }))
      )
  )

/** The local constants and variables with vague names. */
const vagueLocals = files
  .filter((path) => /^packages\/[^/]+\/src\//.test(path))
  .flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .flatMap((text, i) => (/\b(?:const|let) (?:found|known|made)\b/.test(text) ? [{ path, line: i + 1, text }] : []))
  )

/** @type {Record<string, number>} */
const limits = JSON.parse(readFileSync(LIMITS, "utf8"))
const counted = [
  ...Object.entries(patterns).map(([name, { pattern, instead, inMessages }]) => ({
    name,
    instead,
    what: "sentences with the pattern",
    hits: [...sentences, ...(inMessages ? messages : [])].filter(({ text }) => pattern.test(text))
  })),
  ...Object.entries(patterns).map(([name, { pattern, instead }]) => ({
    name: `${name} in comments of tests`,
    instead,
    what: "sentences with the pattern",
    hits: inTests.filter(({ text }) => pattern.test(text))
  })),
  {
    name: "vague locals",
    instead: "what the local holds: 'tickets' or 'row', not 'found', 'known' or 'made'",
    what: "locals under",
    hits: vagueLocals
  },
  {
    name: "titles without a subject",
    instead: "a full sentence, such as 'a receiver drops duplicates' and not 'drops duplicates'",
    what: "titles under",
    hits: titlesWithoutSubject()
  }
]

/** The counts of the last commit; an empty object if it has none. @returns {Record<string, number>} */
const committed = () => {
  try {
    return JSON.parse(execFileSync("git", ["show", `HEAD:${LIMITS}`], { encoding: "utf8", stdio: "pipe" }))
  } catch {
    return {}
  }
}

if (process.argv.includes("--list")) {
  for (const { name, hits } of counted)
    for (const { path, line, text } of hits) console.log(`${path}:${line}: ${name}: ${text.slice(0, 100)}`)
}
if (process.argv.includes("--write")) {
  const lower = Object.fromEntries(
    counted.map(({ name, hits }) => [name, Math.min(hits.length, limits[name] ?? hits.length)])
  )
  writeFileSync(LIMITS, `${JSON.stringify(lower, null, 2)}\n`)
} else {
  const over = counted.filter(({ name, hits }) => hits.length > (limits[name] ?? 0))
  for (const { name, hits, what, instead } of over)
    console.error(
      `plain English: ${hits.length} ${what} "${name}", at most ${limits[name] ?? 0}; write ${instead}. node scripts/check-words.mjs --list names them.`
    )
  const before = committed()
  for (const [name, limit] of Object.entries(limits)) {
    if (limit <= (before[name] ?? limit)) continue
    console.error(`${LIMITS}: "${name}" rose from ${before[name]} to ${limit}: the counts only go down`)
    process.exitCode = 1
  }
  console.log(`words: ${counted.map(({ name, hits }) => `${hits.length} ${name}`).join(", ")}`)
  if (over.length > 0) process.exitCode = 1
}
