import english from "naughty-words/en.json" with { type: "json" }
import french from "naughty-words/fr.json" with { type: "json" }
import { describe, expect, it } from "vitest"
import { contains } from "../../src/domain/WordList.js"
import { DefaultWords } from "../../src/services/DefaultWords.js"

const insults = [
  ...[
    "fuck",
    "fucked",
    "fucker",
    "fuckers",
    "fucking",
    "motherfucker",
    "shit",
    "shits",
    "shitty",
    "bullshit",
    "asshole"
  ],
  ...[
    "assholes",
    "bastard",
    "bitch",
    "bitches",
    "cunt",
    "dick",
    "dickhead",
    "whore",
    "slut",
    "wanker",
    "nigger",
    "faggot"
  ],
  ...[
    "merde",
    "merdes",
    "merdique",
    "putain",
    "putains",
    "pute",
    "connard",
    "connards",
    "connasse",
    "salaud",
    "salauds"
  ],
  ...[
    "salope",
    "salopes",
    "enculé",
    "ENCULE",
    "enfoiré",
    "bordel",
    "con",
    "cul",
    "couilles",
    "chier",
    "pédé",
    "bâtard"
  ],
  ...["fils de pute", "nique ta mère", "ta gueule", "va te faire foutre", "emmerdeur", "tête de bite", "sale pédale"]
]

const everyday = [
  ...["Scunthorpe", "shitake", "shiitake", "assess", "classic", "Cocktail dress", "nude tights", "pédale de vélo"],
  ...["lacy panty, size XXL", "taille S/M", "ref. xxx", "two big black bags", "tight white shirt", "robe sexy noire"],
  ...["blue waffle towel", "gift wrapping men's shirt", "dress for flower girl on Monday", "pantalon caca d'oie"],
  ...["coussin bourré de plumes", "butt hinge", "spoke nipples", "vibrator motor of the phone", "sew strap on bag"],
  ...["fingering weight yarn", "white power cable", "audio jack off centre", "rusty trombone", "Ford Escort seat"],
  ...["hard core drill", "vis folle", "poulie folle", "bitte d'amarrage", "bander le ressort", "chaise à branler"],
  ...["gerbe de fleurs", "tapette à mouches", "gueule de loup", "ramoner la cheminée", "the hoover no longer sucks"],
  ...["dog bite on the sleeve", "l'écran déconne", "le zip va péter", "tache de pipi de chat", "tied up with string"],
  ...["tongue in a shoe", "retard de livraison", "chargeur PD", "suceur plat", "pros and cons", "salopette", "Dickens"],
  ...["constat", "culotte", "concours", "accul", "Ourlet de pantalon", "Réparation d'écran", "Change the zip, please"]
]

describe("the default list of forbidden words (contract §2, 422)", () => {
  it.each(insults)("%j is caught in any case and amid punctuation", (insult) => {
    for (const text of [insult, insult.toUpperCase(), `Oh, «${insult}»!`, `${insult}...`, `-${insult}/`])
      expect([text, contains(DefaultWords, text)]).toEqual([text, true])
  })

  it.each(everyday)("%j is everyday talk in a shop and passes", (text) => {
    expect(contains(DefaultWords, text)).toBe(false)
    expect(contains(DefaultWords, text.toUpperCase())).toBe(false)
  })

  it("keeps nearly all of both lists", () => {
    const kept = [...english, ...french].filter((word) => contains(DefaultWords, word))
    expect(kept.length).toBeGreaterThan(0.83 * (english.length + french.length))
  })
})
