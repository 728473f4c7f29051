import english from "naughty-words/en.json" with { type: "json" }
import french from "naughty-words/fr.json" with { type: "json" }
import { make, type WordList } from "../domain/WordList.js"

const entries = (text: string): ReadonlyArray<string> => text.split(",").map((entry) => entry.trim())

// A word is struck from the lists where a shop's ticket is far likelier to mean the innocent thing: there a refusal
// stops the counter. Entries are spelled as the lists spell them. The two lists are searched together, so a word
// that is rude in one language and plain in the other counts as plain; `added` below takes back its rude uses.
const everyday = {
  clothes_and_colours: entries(`
    nude, panty, panties, lolita, playboy, sexy, kinky, xx, xxx, s&m, blue waffle, tight white, shaved beaver,
    chocolate rosebuds, dirty pillows, wrapping men, girl on, undressing, caca, bourré, bourrée
  `),
  parts_tools_and_trades: entries(`
    butt, nipple, nipples, vibrator, strap on, fingering, pegging, skeet, bareback, cornhole, hard core, hardcore,
    snatch, clover clamps, cleveland steamer, rusty trombone, golden shower, white power, jack off, leather restraint,
    leather straight jacket, escort, pédale, ramoner, bitte, bander, branler, gerbe, gerber, tringler, tanche,
    tapette, trique, gueule, folle
  `),
  faults_and_stains: entries(`
    suck, sucks, bite, baby juice, déconne, déconner, péter, pipi
  `),
  plain_talk: entries(`
    big black, huge fat, tied up, tongue in a, taste my, spread legs, dog style, jelly donut, lemon party,
    how to kill, how to murder, tainted love, jouir, meuf
  `)
}

// What the lists lack: usual inflections, spellings without accents as capitals are often typed, plain insults,
// and the rude uses of words struck above. Left out for their plain sense: retard (a delay), prick, suceur (a nozzle),
// pd (Power Delivery), cons (as in pros and cons).
const added = {
  english: entries(`
    fucks, fucked, fucker, fuckers, fuckface, fuckhead, fuckwit, fuckwits, fucktard, motherfuckers, motherfucking,
    mother fucker, mother fuckers, mindfuck, clusterfucks, shits, shitting, shittier, shite, shithead, shitheads,
    shithole, shitload, dipshit, dipshits, horseshit, batshit, bullshitter, bullshitting, asses, assholes, ass hole,
    asshat, asswipe, jackass, dumbass, dumb ass, arse, arses, arseholes, bastards, bitchy, bitching, cunts, dicks,
    dickhead, dickheads, cocksucker, cocksuckers, cocksucking, suck my, whores, whoring, sluts, slutty, twats, wanker,
    wankers, wanking, tossers, bellend, knobhead, piss off, pissed off, goddamn, goddamned, goddammit, jacking off,
    jerking off, niggers, niggas, faggots, fags, kikes, spics, pakis, honkeys, honkies, wetbacks, trannies, poofs,
    pikeys, gook, gooks, raped, rapists, paedophiles, pedophiles, penises, vaginas, dildos, blowjobs, handjobs,
    orgasms, boners, gangbangs
  `),
  french: entries(`
    merdes, merdique, merdiques, merdier, merdeuses, emmerde, emmerdes, emmerdé, emmerdants, emmerdante, emmerdeurs,
    emmerdeuses, putains, putes, putasse, putasses, pétasse, pétasses, petasse, petasses, pouffiasses, poufiasse,
    poufiasses, grognasse, grognasses, connards, connarde, connardes, connasses, connes, connerie, conneries, conard,
    conards, salauds, salopes, salopard, salopards, saligaud, saligauds, enculés, enculées, enculer, encule, encules,
    enculee, enculees, enfoirés, enfoirées, enfoire, enfoires, enfoiree, bâtard, bâtards, batard, batards,
    filles de pute, fils de putes, fdp, ntm, nique, niquer, niquez, niqué, niquée, branleurs, branleuses, branlettes,
    se branler, couille, couillon, couillons, culs, trouduc, trouducul, trou de cul, trous du cul, chie, chieur,
    chieurs, chieuse, chieuses, ta gueule, vos gueules, sale gueule, gueule de con, ma bite, ta bite, sa bite,
    la bite, une bite, tête de bite, pédés, pede, pedes, sale pédale, sale tapette, grosse tapette, gouines, tafiole,
    tafioles, tarlouze, tarlouzes, nègres, négro, négros, négresse, négresses, negre, negres, bougnoule, bougnoules,
    youpin, youpins, chinetoque, chinetoques, partouze, partouzes, étrons, chattes, zobs, zob
  `)
}

const struck = new Set(Object.values(everyday).flat())

/**
 * The words refused in a ticket's texts where the embedder brings no list (contract §2, 422): the English and French
 * lists of naughty-words (CC BY 4.0) but for what a repair or tailoring shop says every day, with what they lack.
 */
export const DefaultWords: WordList = make([
  ...[...english, ...french].filter((word) => !struck.has(word)),
  ...added.english,
  ...added.french
])
