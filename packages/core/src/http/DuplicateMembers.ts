const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** The maximum number of duplicates in an error. */
const MAX_NAMED_REPEATS = 20

/** The position of the quote that ends the string which begins at `start`. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1
  return at
}

/** Counts the members in a JSON text by counting the colons outside of strings. */
const countWrittenMembers = (text: string): number => {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COLON) count++
  }
  return count
}

/**
 * The number of members of all objects in a value. There is no recursion, because a body may nest thousands of lists.
 */
const countParsedMembers = (value: unknown): number => {
  const open = [value]
  let count = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue
    const entries: ReadonlyArray<unknown> = Array.isArray(next) ? next : Object.values(next)
    if (!Array.isArray(next)) count += entries.length
    for (const entry of entries) if (typeof entry === "object" && entry !== null) open.push(entry)
  }
  return count
}

/**
 * An object or a list that is being read: the current member or entry, and the names of the object's members so far.
 */
type Level =
  | { readonly names: Set<string>; at: string; isName: boolean }
  | { readonly names?: never; at: number; isName: false }

const pathOf = (levels: ReadonlyArray<Level>): string => levels.map(({ at }) => at).join(".")

/**
 * Reads the text again and returns the paths of duplicate members, such as `items.1.label`. Every repetition counts
 * towards the maximum, even one whose path is in the result already, because the path of a deep text is long.
 */
const findRepeatedPaths = (text: string): ReadonlyArray<string> => {
  const paths = new Set<string>()
  const levels: Array<Level> = []
  let repeats = 0
  for (let at = 0; at < text.length && repeats < MAX_NAMED_REPEATS; at++) {
    const code = text.charCodeAt(at)
    const level = levels.at(-1)
    if (code === OPEN_OBJECT) levels.push({ names: new Set(), at: "", isName: true })
    else if (code === OPEN_LIST) levels.push({ at: 0, isName: false })
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) levels.pop()
    else if (code === COLON && level !== undefined) level.isName = false
    else if (code === COMMA && level !== undefined) {
      if (level.names === undefined) level.at++
      else level.isName = true
    } else if (code === QUOTE) {
      const end = endOfString(text, at)
      if (level?.isName) {
        level.at = JSON.parse(text.slice(at, end + 1)) as string
        if (level.names.has(level.at)) {
          repeats++
          paths.add(pathOf(levels))
        }
        level.names.add(level.at)
      }
      at = end
    }
  }
  return [...paths]
}

/**
 * Returns the paths of the members that a valid JSON text contains more than once in an object, for the first 20
 * repetitions. `value` is the result of `JSON.parse`, which silently retains only the last of them. The text is
 * therefore searched only if it has more members than `value`.
 */
export const findDuplicateMembers = (text: string, value: unknown): ReadonlyArray<string> =>
  countWrittenMembers(text) === countParsedMembers(value) ? [] : findRepeatedPaths(text)
