/** A node of the tree of phrases. */
interface Step {
  /** Whether the words so far are an entry. */
  isEntry: boolean
  /** The nodes by next word; undefined if no entry continues. */
  children: Steps | undefined
}

type Steps = Map<string, Step>

/**
 * Words and phrases to search for, as a tree by the words of each entry, so that entries with the same beginning are
 * compared at once.
 */
export type WordList = ReadonlyMap<string, Step>

// A pictograph is a separate word, so that a list can contain a gesture.
const WORD = /[\p{L}\p{M}\p{N}]+|\p{Extended_Pictographic}/gu

// Invisible characters, such as a soft hyphen or a zero-width space, would split a word, so they are removed.
const INVISIBLE = /\p{Cf}/gu

// NFKC makes composed and decomposed, full-width and ordinary letters equal; words with different accents stay different.
const normalizeText = (text: string): string => text.normalize("NFKC").replace(INVISIBLE, "").toLowerCase()

const wordsOf = (text: string): ReadonlyArray<string> => normalizeText(text).match(WORD) ?? []

const addStep = (steps: Steps, word: string): Step => {
  const existing = steps.get(word)
  if (existing !== undefined) return existing
  const step: Step = { isEntry: false, children: undefined }
  steps.set(word, step)
  return step
}

/** Makes a list from texts, which hyphens and apostrophes split into phrases. Entries without a word are dropped. */
export const makeWordList = (entries: Iterable<string>): WordList => {
  const list: Steps = new Map()
  for (const entry of entries) {
    const [first, ...rest] = wordsOf(entry)
    if (first === undefined) continue
    let step = addStep(list, first)
    for (const word of rest) {
      step.children ??= new Map()
      step = addStep(step.children, word)
    }
    step.isEntry = true
  }
  return list
}

/** The position of an entry in a text: its first word, and the number of words. */
interface Occurrence {
  readonly at: number
  readonly length: number
}

const findOccurrences = (list: WordList, words: ReadonlyArray<string>): ReadonlyArray<Occurrence> => {
  const occurrences: Array<Occurrence> = []
  for (let at = 0; at < words.length; at++) {
    let step = list.get(words[at]!)
    for (let length = 1; step !== undefined; length++) {
      if (step.isEntry) occurrences.push({ at, length })
      step = at + length < words.length ? step.children?.get(words[at + length]!) : undefined
    }
  }
  return occurrences
}

/** For each word, the end of the longest-reaching allowed phrase that begins there or before. */
const allowedReachOf = (allowed: ReadonlyArray<WordList>, words: ReadonlyArray<string>): ReadonlyArray<number> => {
  const reach = new Array<number>(words.length).fill(0)
  for (const list of allowed)
    for (const { at, length } of findOccurrences(list, words)) reach[at] = Math.max(reach[at]!, at + length)
  for (let at = 1; at < reach.length; at++) reach[at] = Math.max(reach[at]!, reach[at - 1]!)
  return reach
}

/** An entry as {@link findWords} returns it: its words in lower case, separated by single spaces. */
export const normalizeEntry = (entry: string): string => wordsOf(entry).join(" ")

const NOTHING: ReadonlyArray<string> = []

/**
 * The entries of the list that a text contains as whole words, in any case and with anything between the words (Specification, Errors, the
 * 422 rule): `Scunthorpe` contains no entry that is only a part of it. Words within an entry of an `allowed` list are ignored: `pussy` in
 * `pussy bow`.
 */
export const findWords = (
  list: WordList,
  text: string,
  allowed: ReadonlyArray<WordList> = []
): ReadonlyArray<string> => {
  const words = wordsOf(text)
  const hits = findOccurrences(list, words)
  if (hits.length === 0) return NOTHING
  const reach = allowedReachOf(allowed, words)
  return hits
    .filter(({ at, length }) => reach[at]! < at + length)
    .map(({ at, length }) => words.slice(at, at + length).join(" "))
}

/** Whether a text contains an entry of the list; see {@link findWords}. */
export const containsWord = (list: WordList, text: string): boolean => findWords(list, text).length > 0
