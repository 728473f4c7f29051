import { quoteShell } from "@workshop/core/internal"
import type { Command } from "commander"
import { Console, Effect } from "effect"
import { command } from "./commands.js"
import { everyCommand, Flag, type MakeCommand, Operand, pathOf } from "./program.js"

const SHELLS = ["bash", "zsh", "fish"] as const

/** A word that can follow a command. */
interface Entry {
  readonly word: string
  readonly description: string
}

/** The words that can follow a command: its subcommands, the choices of its operands, and its flags. */
const entriesOf = (command: Command): ReadonlyArray<Entry> => [
  ...command.commands.map((subcommand) => ({ word: subcommand.name(), description: subcommand.summary() })),
  ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((word) => ({ word, description }))
  ),
  ...command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, description }) => ({ word: long!, description: description.split(/[.;:](?: |$)/, 1)[0]! }))
]

/** The values of a flag that a shell offers: words, files, folders, or nothing. */
type Values = ReadonlyArray<string> | "file" | "folder" | "unknown"

const valuesOf = ({ argChoices, flags }: Flag<unknown>): Values =>
  argChoices ?? (flags.endsWith(" <file>") ? "file" : flags.endsWith(" <folder>") ? "folder" : "unknown")

const flagsWithValue = (command: Command): ReadonlyArray<Flag<unknown>> =>
  command.options.filter((option) => option instanceof Flag).filter((option) => option.required)

/** A line for each flag that takes a value, by the command and the flag. */
const valueLines = (
  commands: ReadonlyArray<Command>,
  line: (at: string, values: Values) => string
): ReadonlyArray<string> =>
  commands.flatMap((command) =>
    flagsWithValue(command).map((flag) => line(`${pathOf(command)} ${flag.long}`, valuesOf(flag)))
  )

/**
 * The path of each subcommand, with which a script follows a command line word by word; the values of flags are
 * skipped.
 */
const quotedPaths = (commands: ReadonlyArray<Command>): ReadonlyArray<string> =>
  commands.slice(1).map((command) => `"${pathOf(command)}"`)

const compgenArguments = (values: Values): string => {
  if (values === "unknown") return ""
  return typeof values === "string" ? `-${values === "file" ? "f" : "d"}` : `-W ${quoteShell(values.join(" "))}`
}

const bashScript = (commands: ReadonlyArray<Command>): ReadonlyArray<string> => [
  "# bash completion for workshop and npx workshop: source <(workshop completions bash)",
  "_workshop() {",
  `  local cur="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at=workshop word`,
  `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
  `    case "$at $word" in ${quotedPaths(commands).join("|")}) at="$at $word" ;; esac`,
  "  done",
  // Bash splits `--store=memory` into three words.
  `  if [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi`,
  `  if [ "$cur" = "=" ]; then cur=""; fi`,
  '  case "$at $before" in',
  ...valueLines(
    commands,
    (at, values) => `    "${at}") COMPREPLY=($(compgen ${compgenArguments(values)} -- "$cur")); return ;;`
  ),
  "  esac",
  "  local words=",
  '  case "$at" in',
  ...commands.map((command) => {
    const words = entriesOf(command).map(({ word }) => word)
    return `    "${pathOf(command)}") words=${quoteShell(words.join(" "))} ;;`
  }),
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
  if (typeof values !== "string") return `compadd -- ${values.join(" ")}; return`
  return values === "file" ? "_files; return" : "_files -/; return"
}

const zshEntry = ({ word, description }: Entry): string => quoteShell(`${word}:${description.replaceAll(":", "\\:")}`)

const zshScript = (commands: ReadonlyArray<Command>): ReadonlyArray<string> => [
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
  `    case "$at $word" in (${quotedPaths(commands).join("|")}) at="$at $word" ;; esac`,
  "  done",
  `  if [[ $words[CURRENT] == --*=* ]]; then before="\${words[CURRENT]%%=*}"; compset -P '*='; fi`,
  '  case "$at $before" in',
  ...valueLines(commands, (at, values) => `    ("${at}") ${zshAction(values)} ;;`),
  "  esac",
  '  case "$at" in',
  ...commands.map((command) => `    ("${pathOf(command)}") entries=(${entriesOf(command).map(zshEntry).join(" ")}) ;;`),
  "  esac",
  "  _describe 'workshop' entries || _files",
  "}",
  `if [ "$funcstack[1]" = "_workshop" ]; then _workshop "$@"; else compdef _workshop workshop npx; fi`
]

const quoteFish = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`

const fishValues = (flag: Flag<unknown> | undefined): string => {
  if (flag === undefined) return ""
  const values = valuesOf(flag)
  if (values === "unknown") return " -x"
  if (values === "file") return " -r -F"
  return ` -x -a ${values === "folder" ? "'(__fish_complete_directories)'" : quoteShell(values.join(" "))}`
}

const fishLines = (command: Command): ReadonlyArray<string> =>
  entriesOf(command).map(({ word, description }) => {
    const values = fishValues(flagsWithValue(command).find(({ long }) => long === word))
    const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`
    return `  complete -c $command -n '__workshop_at ${pathOf(command)}' ${what}${values} -d ${quoteFish(description)}`
  })

const fishScript = (commands: ReadonlyArray<Command>): ReadonlyArray<string> => [
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
  `      case ${quotedPaths(commands).join(" ")}`,
  '        set at "$at $word"',
  "    end",
  "  end",
  '  test "$at" = "$argv"',
  "end",
  "complete -c npx -n 'test (count (commandline -opc)) = 1' -a workshop",
  "for command in workshop npx",
  ...commands.flatMap(fishLines),
  "end"
]

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** The script with which a shell completes a command and its subcommands. */
export const completionScript = (shell: (typeof SHELLS)[number], make: MakeCommand): string =>
  scripts[shell](everyCommand(make(() => undefined))).join("\n")

/** `workshop completions`: prints the script with which a shell completes `workshop`, made from its commands. */
export const completionsCommand = (workshop: () => Promise<MakeCommand>) =>
  command({
    name: "completions",
    examples: [
      "source <(workshop completions bash)",
      "workshop completions zsh > ~/.zfunc/_workshop",
      "workshop completions fish > ~/.config/fish/conf.d/workshop.fish"
    ],
    options: { shell: new Operand<(typeof SHELLS)[number]>("<shell>", "The shell.").choices(SHELLS) },
    run: ({ shell }) => Effect.flatMap(Effect.promise(workshop), (make) => Console.log(completionScript(shell, make)))
  })
