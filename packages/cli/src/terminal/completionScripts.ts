import type { Outlined, OutlinedFlag } from "./CommandOutline.js"

/** The shells that are served. */
export const SHELLS = ["bash", "zsh", "fish"] as const

/** A shell that is served. */
export type Shell = (typeof SHELLS)[number]

interface Entry {
  readonly word: string
  readonly does: string
}

const joined = (words: ReadonlyArray<string>): string => words.join(" ")

/** What can follow a command: its subcommands and its flags. */
const entriesOf = ({ words, subcommands, flags }: Outlined, all: ReadonlyArray<Outlined>): ReadonlyArray<Entry> => [
  ...subcommands.map((name) => {
    const found = all.find((one) => joined(one.words) === joined([...words, name]))
    return { word: name, does: found?.does ?? "" }
  }),
  ...flags.map(({ name, does }) => ({ word: name, does })),
  { word: "--help", does: "How it is used" }
]

/** Where a command line has got to, word by word; a value of a flag or an argument moves it nowhere. */
const steps = (all: ReadonlyArray<Outlined>): string =>
  all
    .filter(({ words }) => words.length > 1)
    .map(({ words }) => `"${joined(words)}"`)
    .join("|")

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** What a shell offers as a flag's value: words, files, folders, or nothing that it could know. */
type Values = ReadonlyArray<string> | "file" | "folder" | "unknown"

const valuesOf = (value: string): Values => {
  if (value === "file" || value === "folder") return value
  return value.includes("|") ? value.split("|") : "unknown"
}

/** A line for each flag that takes a value, by the command and the flag. */
const valueLines = (
  all: ReadonlyArray<Outlined>,
  line: (at: string, values: Values) => string
): ReadonlyArray<string> =>
  all.flatMap(({ words, flags }) =>
    flags.flatMap(({ name, value }) => (value === null ? [] : [line(`${joined(words)} ${name}`, valuesOf(value))]))
  )

const generated = (values: Values): string => {
  if (values === "unknown") return ""
  return typeof values === "string" ? `-${values === "file" ? "f" : "d"}` : `-W ${quoted(joined(values))}`
}

const bash = (all: ReadonlyArray<Outlined>): ReadonlyArray<string> => [
  "# bash completion for workshop and npx workshop: source <(workshop completions bash)",
  "_workshop() {",
  `  local cur="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at=workshop word`,
  `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
  `    case "$at $word" in ${steps(all)}) at="$at $word" ;; esac`,
  "  done",
  // Bash takes --store=memory for three words.
  `  if [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi`,
  `  if [ "$cur" = "=" ]; then cur=""; fi`,
  '  case "$at $before" in',
  ...valueLines(all, (at, values) => `    "${at}") COMPREPLY=($(compgen ${generated(values)} -- "$cur")); return ;;`),
  "  esac",
  "  local words=",
  '  case "$at" in',
  ...all.map(
    (one) => `    "${joined(one.words)}") words=${quoted(joined(entriesOf(one, all).map(({ word }) => word)))} ;;`
  ),
  "  esac",
  `  COMPREPLY=($(compgen -W "$words" -- "$cur"))`,
  "}",
  "_workshop_npx() {",
  `  if [ "$COMP_CWORD" -gt 1 ] && [ "\${COMP_WORDS[1]}" = workshop ]; then`,
  `    COMP_WORDS=("\${COMP_WORDS[@]:1}") COMP_CWORD=$((COMP_CWORD - 1))`,
  "    _workshop",
  '  elif [ "$COMP_CWORD" = 1 ]; then',
  `    COMPREPLY=($(compgen -W workshop -- "\${COMP_WORDS[1]}"))`,
  "  fi",
  "}",
  "complete -o default -F _workshop workshop",
  "complete -p npx >/dev/null 2>&1 || complete -o default -F _workshop_npx npx"
]

const zshAction = (values: Values): string => {
  if (values === "unknown") return "return 1"
  if (typeof values !== "string") return `compadd -- ${joined(values)}; return`
  return values === "file" ? "_files; return" : "_files -/; return"
}

const zsh = (all: ReadonlyArray<Outlined>): ReadonlyArray<string> => [
  "#compdef workshop npx",
  "_workshop() {",
  "  if [[ $words[1] == npx ]]; then",
  "    if (( CURRENT == 2 )); then compadd workshop; _files; return; fi",
  "    shift words; (( CURRENT-- ))",
  "    if [[ $words[1] != workshop ]]; then _normal; return; fi",
  "  fi",
  `  local at=workshop before="$words[CURRENT-1]" word`,
  "  local -a entries",
  `  for word in "\${(@)words[2,CURRENT-1]}"; do`,
  `    case "$at $word" in (${steps(all)}) at="$at $word" ;; esac`,
  "  done",
  `  if [[ $words[CURRENT] == --*=* ]]; then before="\${words[CURRENT]%%=*}"; compset -P '*='; fi`,
  '  case "$at $before" in',
  ...valueLines(all, (at, values) => `    ("${at}") ${zshAction(values)} ;;`),
  "  esac",
  '  case "$at" in',
  ...all.map((one) => {
    const entries = entriesOf(one, all).map(({ word, does }) => quoted(`${word}:${does.replaceAll(":", "\\:")}`))
    return `    ("${joined(one.words)}") entries=(${joined(entries)}) ;;`
  }),
  "  esac",
  "  _describe 'workshop' entries || _files",
  "}",
  `if [ "$funcstack[1]" = "_workshop" ]; then _workshop "$@"; else compdef _workshop workshop npx; fi`
]

const fishValues = ({ value }: OutlinedFlag): string => {
  if (value === null) return ""
  const values = valuesOf(value)
  if (values === "unknown") return " -x"
  if (values === "file") return " -r -F"
  return ` -x -a ${values === "folder" ? "'(__fish_complete_directories)'" : quoted(joined(values))}`
}

const fish = (all: ReadonlyArray<Outlined>): ReadonlyArray<string> => [
  "# fish completion for workshop and npx workshop",
  "function __workshop_at",
  "  set -l given (commandline -opc)",
  `  if test "$given[1]" = npx`,
  "    set -e given[1]",
  `    test "$given[1]" = workshop; or return 1`,
  "  end",
  "  set -l at workshop",
  "  for word in $given[2..-1]",
  '    switch "$at $word"',
  `      case ${steps(all).replaceAll("|", " ")}`,
  '        set at "$at $word"',
  "    end",
  "  end",
  '  test "$at" = "$argv"',
  "end",
  "complete -c npx -n 'test (count (commandline -opc)) = 1' -a workshop",
  "for command in workshop npx",
  ...all.flatMap((one) =>
    entriesOf(one, all).map(({ word, does }) => {
      const flag = one.flags.find(({ name }) => name === word)
      const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`
      const values = flag === undefined ? "" : fishValues(flag)
      return `  complete -c $command -n '__workshop_at ${joined(one.words)}' ${what}${values} -d ${fishQuoted(does)}`
    })
  ),
  "end"
]

const fishQuoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`

const scripts: Readonly<Record<Shell, (all: ReadonlyArray<Outlined>) => ReadonlyArray<string>>> = { bash, zsh, fish }

/** The script by which a shell completes the commands. */
export const completionScript = (shell: Shell, all: ReadonlyArray<Outlined>): string => scripts[shell](all).join("\n")
