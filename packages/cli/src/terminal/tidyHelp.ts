import { examples, exitStatuses } from "./examples.js"

/** What `@effect/cli` prints of every option and command alike, and what is left of it. */
const noise: ReadonlyArray<readonly [RegExp, string]> = [
  [/^workshop\n\n/, ""],
  [
    /^ +(A user-defined piece of text|A true or false value|This option can be set from .*|This option may be repeated zero or more times|This setting is optional)\.\n\n?/gm,
    ""
  ],
  [/^(--.*|<.*)\n\n/gm, "$1\n"],
  [/^\$ workshop$/m, "$ workshop <command>"],
  [/^\$ (?!workshop)/gm, "$ workshop "],
  [/(?<! ) +$/gm, ""],
  [/\n{3,}/g, "\n\n"]
]

/** The words of a line in the list of commands; after them come its flags, and behind a wider gap what it does. */
const LISTED = /^ +- ([a-z]+(?: [a-z]+)*)(?= [-[<(]| {2}|$)/
const GAP = /(?<! ) {2}/

const LONGEST_USAGE = 100

/** A usage too long for a line names its flags together: they are listed below it. */
const shortUsage = (usage: string): string => {
  const flags = usage.search(/ \[?--/)
  if (usage.length <= LONGEST_USAGE || flags < 0) return usage
  const rest = usage.slice(flags)
  const named = rest.search(/ \[?</)
  return `${usage.slice(0, flags)} [options]${named < 0 ? "" : rest.slice(named).replaceAll(/ \[--[^\]]{0,200}\]/g, "")}`
}

const WORDS = /^\$ workshop((?: [a-z]+)*)(?= [-[<(]|$)/m

/** The words of the command whose help it is: the library names its last one, and what was typed tells those before it. */
const wordsOf = (help: string, typed: ReadonlyArray<string>): string => {
  const last = WORDS.exec(help)?.[1]?.split(" ").at(-1) ?? ""
  const at = typed.indexOf(last)
  return last === "" || at === -1 ? last : typed.slice(0, at + 1).join(" ")
}

/** The commands one level below, each with what it does: what lies deeper is in their own help. */
const listed = (lines: ReadonlyArray<string>, above: string): ReadonlyArray<string> => {
  const found = lines.flatMap((line) => {
    const [start = "", words = " "] = LISTED.exec(line) ?? []
    const rest = line.slice(start.length)
    const gap = rest.search(GAP)
    const does = gap < 0 ? "" : rest.slice(gap).trimStart()
    return words.includes(" ") ? [] : [{ words: `workshop ${above}${above === "" ? "" : " "}${words}`, does }]
  })
  const width = Math.max(...found.map(({ words }) => words.length))
  return found.map(({ words, does }) => `  ${words.padEnd(width)}  ${does}`.trimEnd())
}

const withCommandsListed = (help: string, above: string): string => {
  const [before, after] = help.split("\nCOMMANDS\n")
  if (before === undefined || after === undefined) return help
  const lines = after.split("\n").filter((line) => line.trim() !== "")
  return `${before}\nCOMMANDS\n\n${listed(lines, above).join("\n")}\n`
}

const withWholeUsage = (help: string, words: string): string =>
  words.includes(" ") ? help.replace(/^\$ workshop [a-z]+/m, `$ workshop ${words}`) : help

const section = (title: string, lines: ReadonlyArray<string>): string =>
  lines.length === 0 ? "" : `\n\n${title}\n\n${lines.map((line) => `  ${line}`).join("\n")}`

const EVERYWHERE = [
  "--help       this help, at every level",
  "NAME_FILE    in place of any variable NAME: the file that holds its value, such as a key or a secret",
  "--no-color   no colours; NO_COLOR does the same, and FORCE_COLOR asks for them in a pipe too"
]

/** The help of a command as we show it: no empty words, its examples, and at the top what holds everywhere. */
export const tidyHelp = (help: string, typed: ReadonlyArray<string>): string => {
  const left = noise
    .reduce((text, [pattern, instead]) => text.replace(pattern, instead), `${help}\n`)
    .trim()
    .replace(/^\$ .*$/m, shortUsage)
  const words = wordsOf(left, typed)
  const statuses = exitStatuses.map(([status, means]) => `${String(status).padEnd(3)}  ${means}`)
  return [
    withCommandsListed(withWholeUsage(left, words), words).trimEnd(),
    words === "" ? section("EVERYWHERE", EVERYWHERE) : "",
    section("EXAMPLES", examples[words] ?? []),
    words === "" ? section("EXIT STATUS", statuses) : ""
  ].join("")
}
