/**
 * Compares the survivors of a run with the committed list, in which each line is one mutant:
 *
 *     decisions/giveStamps.ts: n > 0 → n >= 0 # why it is equivalent, or not worth a test
 *
 * If two mutants of a file replace the same text by the same one, the list has two equal lines.
 */

/** @typedef {{ line: number, column: number }} Position */
/** @typedef {{ mutatorName: string, replacement?: string, status: string, location: { start: Position, end: Position } }} Mutant */
/** @typedef {Readonly<Record<string, { source: string, mutants: Mutant[] }>>} Files */

const SOURCES = "packages/core/src/"
const WHY = " # "
/** The number of characters by which the list identifies a long text. */
const SHOWN = 90

/** @param {string} text */
const inOneLine = (text) => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line
}

/** The name of a mutant in the list. @param {string} file @param {string} source @param {Mutant} mutant */
export const nameOf = (file, source, { location: { start, end }, replacement = "" }) => {
  const lines = source.split("\n").slice(start.line - 1, end.line)
  lines[lines.length - 1] = lines[lines.length - 1]?.slice(0, end.column - 1) ?? ""
  lines[0] = lines[0]?.slice(start.column - 1) ?? ""
  return `${file.replace(SOURCES, "")}: ${inOneLine(lines.join("\n"))} → ${inOneLine(replacement)}`
}

const SURVIVED = new Set(["Survived", "NoCoverage"])

/** True if the tests killed a mutant. @param {Mutant} mutant */
export const isKilled = ({ status }) => status === "Killed" || status === "Timeout"

/** The survivors of a run by name. @param {Files} files */
export const survivorsOf = (files) =>
  Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.filter(({ status }) => SURVIVED.has(status)).map((mutant) => nameOf(file, source, mutant))
  )

/** For each file, the number of killed mutants and of all. @param {Files} files */
export const scores = (files) =>
  Object.entries(files).flatMap(([file, { mutants }]) => {
    const killed = mutants.filter(isKilled).length
    const all = killed + mutants.filter(({ status }) => SURVIVED.has(status)).length
    return all === 0 ? [] : [{ file: file.replace(SOURCES, ""), found: killed, all }]
  })

/**
 * Parses the list. Each line has a mutant and the reason why no test kills it. The first line states the largest number
 * of lines.
 * @param {string} text
 */
export const listed = (text) => {
  const [first = "", ...rest] = text.split("\n").filter((line) => line !== "")
  const max = Number(/^At most (\d+) lines\b/.exec(first)?.[1])
  if (Number.isNaN(max)) throw new Error("The first line must say: At most N lines")
  const rows = rest.map((line) => {
    const at = line.lastIndexOf(WHY)
    if (at === -1 || line.slice(at + WHY.length).trim() === "") throw new Error(`The line gives no reason: ${line}`)
    return { mutant: line.slice(0, at), why: line.slice(at + WHY.length) }
  })
  return { max, rows }
}

/**
 * The entries of the first list without those of the second. Duplicates count.
 * @param {string[]} of
 * @param {string[]} without
 */
const less = (of, without) => {
  const rest = [...without]
  return of.filter((one) => {
    const at = rest.indexOf(one)
    if (at !== -1) rest.splice(at, 1)
    return at === -1
  })
}

/**
 * The complaints about a run and its list. The list may only shrink: a new survivor needs a test, and a mutant that no
 * longer survives must leave the list.
 * @param {Files} files @param {string} text
 */
export const complaints = (files, text) => {
  const { max, rows } = listed(text)
  const ran = Object.keys(files).map((file) => `${file.replace(SOURCES, "")}: `)
  const known = rows.map(({ mutant }) => mutant).filter((mutant) => ran.some((file) => mutant.startsWith(file)))
  const survivors = survivorsOf(files)
  return [
    ...less(survivors, known).map((name) => `survived: ${name}`),
    ...less(known, survivors).map((name) => `on the list, but killed or gone: ${name}`),
    ...(rows.length === max ? [] : [`the list has ${rows.length} lines and says at most ${max}`])
  ]
}
