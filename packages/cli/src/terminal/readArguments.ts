import { Either } from "effect"
import type { Outlined, OutlinedFlag } from "./CommandOutline.js"
import { nearestName } from "./nearestName.js"

/** A flag as it was typed: `--port 4010`, `--port=4010`, `--json`. */
interface Given {
  readonly flag: OutlinedFlag
  readonly value: string | null
}

/** What a command line asks for, as far as it has been read. */
interface Reading {
  command: Outlined
  readonly flags: Array<Given>
  readonly operands: Array<string>
  isHelp: boolean
  isVersion: boolean
}

const nameOf = ({ words }: Outlined): string => words.join(" ")

/** `; did you mean serve?`, or nothing. */
const suggestion = (typed: string, names: ReadonlyArray<string>): string => {
  const name = nearestName(typed, names)
  return name === undefined ? "" : `; did you mean ${name}?`
}

const seeHelp = (command: Outlined, said: string): string => {
  const sentence = said.endsWith("?") ? `${said} ` : `${said}: `
  return `${sentence}${nameOf(command)} --help lists what there is.`
}

const noCommand = (command: Outlined, typed: string): string =>
  seeHelp(command, `${nameOf(command)} has no command ${typed}${suggestion(typed, command.subcommands)}`)

/** Flags of `shop create` that `shop set` does not have. */
const FIXED = ["--name", "--currency", "--decimals", "--time-zone", "--tracking-base-url"]

const noFlag = (command: Outlined, typed: string): string => {
  if (nameOf(command) === "workshop shop set" && FIXED.includes(typed)) {
    return `workshop shop set has no flag ${typed}, because a shop keeps its name, currency, decimals, time zone and tracking address for good: workshop shop create opens another shop.`
  }
  const names = [...command.flags.map(({ name }) => name), "--help", "--no-color"]
  const said = `${nameOf(command)} has no flag ${typed}${suggestion(typed.replace(/^-+/, "--"), names)}`
  return seeHelp(command, said)
}

const lacksValue = ({ name, value, does }: OutlinedFlag): string =>
  `${name} lacks its value: give it as ${name} <${value ?? ""}>. ${does}.`

/** Reads a word that begins with a dash; returns how many words that took, or what is wrong. */
const readFlag = (reading: Reading, word: string, next: string | undefined): number | string => {
  if (word === "--help" || word === "-h") {
    reading.isHelp = true
    return 1
  }
  if (word === "--version") {
    reading.isVersion = true
    return 1
  }
  const [typed = "", ...rest] = word.split("=")
  const flag = reading.command.flags.find(({ name }) => name === typed)
  if (flag === undefined) return noFlag(reading.command, typed)
  const isAgain = reading.flags.some((given) => given.flag === flag)
  if (flag.value === null) {
    if (rest.length > 0) return `${typed} takes no value: give it alone, or leave it out.`
    if (!isAgain) reading.flags.push({ flag, value: null })
    return 1
  }
  if (isAgain && !flag.isRepeatable) return `${typed} is given twice: give it once.`
  const value = rest.length > 0 ? rest.join("=") : next
  // What begins with dashes is the next flag; a value that does is written behind an equals sign.
  if (value === undefined || (rest.length === 0 && value.startsWith("--"))) return lacksValue(flag)
  reading.flags.push({ flag, value })
  return rest.length > 0 ? 1 : 2
}

const readWord = (reading: Reading, all: ReadonlyArray<Outlined>, word: string): string | undefined => {
  const { command, operands } = reading
  if (command.subcommands.length === 0) {
    operands.push(word)
    return undefined
  }
  const words = [...command.words, word].join(" ")
  const found = all.find((one) => nameOf(one) === words)
  if (found === undefined) return noCommand(command, word)
  reading.command = found
  return undefined
}

const wrongOperands = ({ command, operands }: Reading): string | undefined => {
  const { operands: wanted } = command
  const missing = wanted[operands.length]
  if (missing !== undefined && !missing.isOptional) {
    return `${nameOf(command)} lacks its <${missing.name}>: ${nameOf(command)} --help shows how it is written.`
  }
  const extra = operands[wanted.length]
  if (extra === undefined || wanted.at(-1)?.isRepeatable === true) return undefined
  const takes = wanted.length === 0 ? "nothing" : wanted.map(({ name }) => `<${name}>`).join(" ")
  return seeHelp(command, `${nameOf(command)} takes ${takes} besides its flags, and "${extra}" is one too many`)
}

const wrongChoice = ({ command, operands }: Reading): string | undefined => {
  for (const [i, { name }] of command.operands.entries()) {
    const [choices, typed] = [name.split("|"), operands[i]]
    if (choices.length > 1 && typed !== undefined && !choices.includes(typed)) {
      const hint = suggestion(typed, choices) || "."
      return `${nameOf(command)} takes one of ${choices.join(", ")}, and not "${typed}"${hint}`
    }
  }
  return undefined
}

/** In the order that the library reads without a doubt: the command, its flags, and after `--` all else. */
const ordered = ({ command, flags, operands, isHelp, isVersion }: Reading): ReadonlyArray<string> => {
  if (isVersion) return ["--version"]
  const words = command.words.slice(1)
  if (isHelp) return [...words, "--help"]
  const given = flags.flatMap(({ flag, value }) => (value === null ? [flag.name] : [flag.name, value]))
  return [...words, ...given, ...(operands.length === 0 ? [] : ["--", ...operands])]
}

/**
 * Reads what was typed after `workshop` by the commands that there are, and writes it in one order. A word that begins with a
 * dash is a flag and never a file; a misspelt command or flag is told with the one that was meant; `--help` holds anywhere.
 */
export const readArguments = (
  typed: ReadonlyArray<string>,
  all: readonly [Outlined, ...ReadonlyArray<Outlined>]
): Either.Either<ReadonlyArray<string>, string> => {
  const reading: Reading = { command: all[0], flags: [], operands: [], isHelp: false, isVersion: false }
  const wrong: Array<string> = []
  for (let i = 0; i < typed.length; ) {
    const word = typed[i]!
    if (word === "--") {
      reading.operands.push(...typed.slice(i + 1))
      break
    }
    const isFlag = word.startsWith("-") && word !== "-"
    const read = isFlag ? readFlag(reading, word, typed[i + 1]) : readWord(reading, all, word)
    if (typeof read === "string") wrong.push(read)
    i += typeof read === "number" ? read : 1
  }
  if (reading.isHelp || reading.isVersion) return Either.right(ordered(reading))
  const first = wrong[0] ?? wrongOperands(reading) ?? wrongChoice(reading)
  return first === undefined ? Either.right(ordered(reading)) : Either.left(first)
}
