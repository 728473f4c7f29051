import { Effect, Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { languagesOf } from "../../src/domain/DefaultWords.js"
import { forbiddenField } from "../../src/domain/ForbiddenWord.js"
import { Language, languagesIn } from "../../src/domain/Language.js"
import { ProfanityFilter } from "../../src/ports/ProfanityFilter.js"
import * as Profanity from "../../src/services/Profanity.js"
import { TestShop } from "../decisions/fixtures.js"
import { tradeWords } from "./TradeWords.js"

/** Whether a shop of these languages accepts the text on a ticket. */
const takes = (languages: ReadonlyArray<Language>, text: string): boolean => {
  const forbidden = Effect.runSync(
    Effect.flatMap(ProfanityFilter, ({ find }) => find([["service", text]])).pipe(Effect.provide(Profanity.layer))
  )
  return forbiddenField(new TestShop({ languages }).slice.shop, { service: text }, forbidden) === null
}

const insults: Readonly<Record<Language, ReadonlyArray<string>>> = {
  en: [
    ...["fuck", "fucked", "fucker", "fuckers", "fucking", "motherfucker", "shit", "shits", "shitty", "bullshit"],
    ...["asshole", "assholes", "dumb-ass", "bastard", "bitch", "bitches", "cunt", "dick", "dickhead", "whore", "slut"],
    ...["wanker", "nigger", "faggot", "piece of shit", "son of a bitch", "suck my", "pussy", "piss off", "🖕"]
  ],
  fr: [
    ...["merde", "merdes", "merdique", "putain", "putains", "pute", "connard", "connards", "connasse", "salaud"],
    ...["salauds", "salope", "salopes", "enculé", "ENCULE", "l’enculé", "enfoiré", "bordel", "quel con", "un con"],
    ...["bande de cons", "ton cul", "trou du cul", "couilles", "chier", "pédé", "bâtard", "fils de pute", "ta gueule"],
    ...["nique ta mère", "va te faire foutre", "emmerdeur", "tête de bite", "sale pédale"]
  ],
  es: [
    "mierda",
    "puta",
    "hijo de puta",
    "cabrón",
    "CABRON",
    "gilipollas",
    "coño",
    "joder",
    "maricón",
    "pendejo",
    "a la verga"
  ],
  it: [
    "cazzo",
    "vaffanculo",
    "stronzo",
    "stronza",
    "merda",
    "puttana",
    "coglione",
    "minchia",
    "porca puttana",
    "frocio"
  ],
  de: [
    "Arschloch",
    "Scheiße",
    "SCHEISSE",
    "Fotze",
    "Hurensohn",
    "Wichser",
    "Schlampe",
    "fick dich",
    "leck mich",
    "verpiss dich"
  ],
  ar: [
    "9a7ba",
    "zebi",
    "sharmouta",
    "nik omek",
    "nikomok",
    "kos omak",
    "ya3tik 3asba",
    "zok omek",
    "miboun",
    "شرموطة",
    "كس امك"
  ]
}

const languages = Object.keys(insults) as ReadonlyArray<Language>

describe("the default list of forbidden words (Specification, Errors, 422)", () => {
  for (const language of languages) {
    it.each(insults[language])(`${language}: %j is found in any case and amid punctuation`, (insult) => {
      for (const text of [insult, insult.toUpperCase(), `Oh, «${insult}»!`, `${insult}...`, `-${insult}/`])
        expect([text, takes([language], text)]).toEqual([text, false])
    })

    it(`${language}: the trade's own words are accepted in a shop of that language, also together with English and French`, () => {
      const refused = tradeWords[language].filter((text) =>
        [text, text.toUpperCase()].some((text) => !takes([language], text) || !takes(["en", "fr", language], text))
      )
      expect(refused).toEqual([])
    })
  }

  it("the trade's words of all six languages are accepted in shops of the usual two, except those that only their own language allows", () => {
    const all = Object.values(tradeWords).flat()
    expect(all.length).toBeGreaterThan(800)
    const refused = all.filter((text) => !takes(["en", "fr"], text))
    expect(refused).toEqual([
      ...["para Kike", "vestit negre (català)", "dick gefüttert", "Stoff zu dick", "extra dick"],
      ...["Ass", "Pik-Ass", "Kreuz-Ass", "Hieb 1 Bastard-Feile (Bastardfeile)"]
    ])
  })

  it("an insult of one language is refused only in shops of that language", () => {
    for (const [text, language] of [
      ["Wichser", "de"],
      ["mierda", "es"],
      ["stronzo", "it"],
      ["9a7ba", "ar"]
    ] as const) {
      expect(takes(["en", "fr"], text)).toBe(true)
      expect(takes(["en", "fr", language], text)).toBe(false)
    }
    expect(takes([], "fuck")).toBe(true)
  })

  it("a harmless phrase allows its words only within the phrase", () => {
    expect(takes(["en"], "Pussy bow blouse")).toBe(true)
    expect(takes(["en"], "Pussy bow, you pussy")).toBe(false)
    expect(takes(["en"], "you bastard, a bastard file")).toBe(false)
  })
})

describe("the languages of a shop that names none", () => {
  it.each([
    ["Africa/Tunis", ["en", "fr", "ar"]],
    ["asia/dubai", ["en", "fr", "ar"]],
    ["Europe/Madrid", ["en", "fr", "es"]],
    ["America/Argentina/Cordoba", ["en", "fr", "es"]],
    ["America/Mexico_City", ["en", "fr", "es"]],
    ["Europe/Rome", ["en", "fr", "it"]],
    ["Europe/Berlin", ["en", "fr", "de"]],
    ["Europe/Zurich", ["en", "fr", "de", "it"]],
    ["Europe/Paris", ["en", "fr"]],
    ["UTC", ["en", "fr"]]
  ])("a shop in %s has English, French and the language of its zone", (zone, expected) =>
    expect(languagesIn(zone)).toEqual(expected)
  )

  it.each(["Africa/Tunis", "Europe/Berlin", "Europe/Madrid", "Europe/Rome"])(
    "a zone whose name only contains %s has English and French",
    (zone) =>
      expect([`Old/${zone}`, `${zone}_Old`].map(languagesIn)).toEqual([
        ["en", "fr"],
        ["en", "fr"]
      ])
  )
})

describe("the languages that have a list of words", () => {
  it("six languages have a list of words", () => {
    const accepts = (language: string) => Either.isRight(Schema.decodeUnknownEither(Language)(language))
    expect(["ar", "de", "en", "es", "fr", "it"].filter(accepts)).toHaveLength(6)
    expect(["", "pt", "FR"].filter(accepts)).toEqual([])
  })

  it.each([
    ["putain", ["fr"]],
    ["merde", ["fr", "it"]],
    ["hem", []]
  ])("the word %s is forbidden in %j", (word, languages) => expect(languagesOf(word)).toEqual(languages))
})
