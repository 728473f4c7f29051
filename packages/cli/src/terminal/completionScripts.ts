import type { Outlined } from "./CommandOutline.js"

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

const bash = (all: ReadonlyArray<Outlined>): ReadonlyArray<string> => [
  "# bash completion for workshop: source <(workshop completions bash)",
  "_workshop() {",
  `  local cur="\${COMP_WORDS[COMP_CWORD]}" at=workshop words='' word`,
  `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
  `    case "$at $word" in ${steps(all)}) at="$at $word" ;; esac`,
  "  done",
  '  case "$at" in',
  ...all.map(
    (one) => `    "${joined(one.words)}") words=${quoted(joined(entriesOf(one, all).map(({ word }) => word)))} ;;`
  ),
  "  esac",
  `  COMPREPLY=($(compgen -W "$words" -- "$cur"))`,
  "}",
  "complete -o default -F _workshop workshop"
]

const zsh = (all: ReadonlyArray<Outlined>): ReadonlyArray<string> => [
  "#compdef workshop",
  "_workshop() {",
  "  local at=workshop word",
  "  local -a entries",
  `  for word in "\${(@)words[2,CURRENT-1]}"; do`,
  `    case "$at $word" in (${steps(all)}) at="$at $word" ;; esac`,
  "  done",
  '  case "$at" in',
  ...all.map((one) => {
    const entries = entriesOf(one, all).map(({ word, does }) => quoted(`${word}:${does.replaceAll(":", "\\:")}`))
    return `    ("${joined(one.words)}") entries=(${joined(entries)}) ;;`
  }),
  "  esac",
  "  _describe 'workshop' entries || _files",
  "}",
  `if [ "$funcstack[1]" = "_workshop" ]; then _workshop "$@"; else compdef _workshop workshop; fi`
]

const fish = (all: ReadonlyArray<Outlined>): ReadonlyArray<string> => [
  "# fish completion for workshop",
  "function __workshop_at",
  "  set -l at workshop",
  "  for word in (commandline -opc)[2..-1]",
  '    switch "$at $word"',
  `      case ${steps(all).replaceAll("|", " ")}`,
  '        set at "$at $word"',
  "    end",
  "  end",
  '  test "$at" = "$argv"',
  "end",
  ...all.flatMap((one) =>
    entriesOf(one, all).map(({ word, does }) => {
      const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`
      return `complete -c workshop -n '__workshop_at ${joined(one.words)}' ${what} -d ${fishQuoted(does)}`
    })
  )
]

const fishQuoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`

const scripts: Readonly<Record<Shell, (all: ReadonlyArray<Outlined>) => ReadonlyArray<string>>> = { bash, zsh, fish }

/** The script by which a shell completes the commands. */
export const completionScript = (shell: Shell, all: ReadonlyArray<Outlined>): string => scripts[shell](all).join("\n")
