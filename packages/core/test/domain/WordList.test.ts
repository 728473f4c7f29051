import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as WordList from "../../src/domain/WordList.js"

// Each test builds the list, so that an error in building it fails a test.
const list = () =>
  WordList.makeWordList(["ass", "Merde", "enculé", "fils de pute", "pousse-crotte", "fils d'âne", "🖕", "", "--"])

describe("forbidden words are whole words in any case (Specification, Errors, 422)", () => {
  it.each([
    "ass",
    "ASS!",
    "(ass)",
    "my ass, please",
    "a_ass_b",
    "MERDE",
    "l'enculé",
    "l’ENCULÉ.",
    "encule\u0301",
    "ENCULE\u0301",
    "ａｓｓ",
    "Fils de pute",
    "FILS-DE-PUTE",
    "fils  de\n«pute»",
    "le fils du fils de pute",
    "pousse crotte",
    "Pousse-Crotte",
    "fils d’âne",
    "voilà 🖕🏽"
  ])("the text %j contains a forbidden word", (text) => expect(WordList.containsWord(list(), text)).toBe(true))

  it.each([
    "",
    "class",
    "assess",
    "ass2",
    "2ass",
    "merdes",
    "encule",
    "fils de Putean",
    "fils pute",
    "fils de",
    "de pute",
    "pousse",
    "👍"
  ])("the text %j contains no forbidden word", (text) => expect(WordList.containsWord(list(), text)).toBe(false))

  it("an entry that begins another entry is found on its own", () => {
    const both = WordList.makeWordList(["sale race", "sale", "sale tête"])
    expect(WordList.containsWord(both, "une sale histoire")).toBe(true)
    expect(WordList.containsWord(WordList.makeWordList(["sale race", "sale tête"]), "une sale tête")).toBe(true)
    expect(WordList.containsWord(WordList.makeWordList(["sale race", "sale tête"]), "une sale histoire")).toBe(false)
  })

  it("an empty list finds nothing", () => {
    expect(WordList.containsWord(WordList.makeWordList([]), "anything")).toBe(false)
  })

  it("a word of letters is found between any separators, and not inside longer words", () => {
    const word = fc.stringMatching(/^[a-zé]{1,8}$/)
    const separator = fc.constantFrom(" ", ", ", "-", "'", "\n", "…", "/", "_", "(")
    fc.assert(
      fc.property(word, separator, separator, (text, before, after) => {
        const one = WordList.makeWordList([text])
        expect(WordList.containsWord(one, `zzz${before}${text.toUpperCase()}${after}zzz`)).toBe(true)
        expect(WordList.containsWord(one, `zzz${text}zzz0`)).toBe(false)
      })
    )
  })
})

describe("invisible characters (Specification, Errors)", () => {
  it("invisible characters do not split a word", () => {
    const list = WordList.makeWordList(["rubbish"])
    for (const text of ["rub\u00adbish", "rub\u200bbish", "\u2066rubbish\u2069"])
      expect(WordList.containsWord(list, text)).toBe(true)
  })
})

describe("phrases that begin alike or contain one another (Specification, Errors)", () => {
  type Words = ReadonlyArray<string>
  const stands = (text: Words, entry: Words, at: number) => entry.every((word, i) => text[at + i] === word)
  /** Searches each entry at each position, and leaves out those within an allowed entry. */
  const plainly = (entries: ReadonlyArray<Words>, text: Words, allowed: ReadonlyArray<Words>) =>
    text.flatMap((_, at) =>
      entries
        .filter((entry) => stands(text, entry, at))
        .filter(
          (entry) =>
            !allowed.some((other) =>
              text.some(
                (_, from) => from <= at && from + other.length >= at + entry.length && stands(text, other, from)
              )
            )
        )
        .map((entry) => entry.join(" "))
    )

  it("phrases are found exactly as by a simple search, with any set of allowed words", () => {
    const word = fc.constantFrom("a", "b", "c")
    const phrases = fc.uniqueArray(fc.array(word, { minLength: 1, maxLength: 4 }), { selector: (one) => one.join(" ") })
    fc.assert(
      fc.property(phrases, fc.array(word), phrases, (entries, text, allowed) => {
        const written = (some: ReadonlyArray<Words>) => WordList.makeWordList(some.map((one) => one.join(" ")))
        const words = WordList.findWords(written(entries), text.join("-"), [written(allowed)])
        expect(words.toSorted()).toEqual(plainly(entries, text, allowed).toSorted())
      })
    )
  })
})

describe("the name of an entry", () => {
  it("the name of an entry is its words in lower case, with single spaces between them", () => {
    expect(WordList.normalizeEntry("Fils-DE  l'ÂNE")).toBe("fils de l âne")
    expect(WordList.normalizeEntry("--")).toBe("")
    expect(WordList.findWords(list(), "FILS-de  pute, ass")).toEqual(["fils de pute", "ass"])
    expect(WordList.findWords(list(), "nothing")).toEqual([])
  })
})
