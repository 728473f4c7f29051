import { type LanguageWords, splitEntries } from "./entries.js"

/**
 * Left out because of their harmless sense: cock, tit, prick, retard, tranny, escort, hooker, negro, sex, fag (FAG),
 * rape (a rasp).
 */
export const English: LanguageWords = {
  rude: splitEntries(`
    fuck, fucks, fucked, fucker, fuckers, fuckin, fucking, fuckface, fuckhead, fuckwit, fuckwits, fucktard, fucktards,
    motherfucker, motherfuckers, motherfucking, mother fucker, mother fuckers, mindfuck, clusterfuck, clusterfucks,
    shit, shits, shitty, shittier, shitting, shite, shithead, shitheads, shithole, shitload, dipshit, dipshits,
    horseshit, batshit, apeshit, bullshit, bullshitter, bullshitting,
    ass, asses, asshole, assholes, ass hole, asshat, asswipe, jackass, dumbass, dumb ass, arse, arses, arsehole,
    arseholes, butthole, buttholes, bastard, bastards, bitch, bitches, bitchy, bitching, cunt, cunts, dick, dicks,
    dickhead, dickheads, cocksucker, cocksuckers, cocksucking, cock sucker, my cock, your cock, his cock, suck my,
    pussy, tits, titties, boobs, whore, whores, whoring, slut, sluts, slutty, twat, twats, wank, wanker, wankers,
    wanking, tosser, tossers, bollocks, bellend, knobhead, piss off, pissed off, goddamn, goddamned, goddammit,
    god damn, jerk off, jerking off, jacking off, fisting, blowjob, blowjobs, blow job, handjob, handjobs, cumshot,
    cumshots, gangbang, gangbangs, gang bang, milf, shemale, penis, penises, vagina, vaginas, clitoris, anus, dildo,
    dildos, orgasm, orgasms, masturbate, masturbation, porn, porno, raped, rapist, rapists, paedophile,
    paedophiles, pedophile, pedophiles, nigger, niggers, nigga, niggas, faggot, faggots, kike, kikes, spic,
    spics, paki, pakis, honkey, honkeys, honkies, wetback, wetbacks, raghead, ragheads, towelhead, towelheads, gooks,
    coon, coons, darkie, darkies, jigaboo, pikey, pikeys, trannies, poofter, poofters, neonazi, 🖕
  `),
  plain: splitEntries(`
    ass'y, bastard file, bastard files, bastard cut, bastard thread, bastard size, bastard sword, pussy bow,
    pussy bows, pussy willow, pussy cat, Moby Dick, Dick Tracy, spotted dick, blue tits, great tits, coal tits,
    spic and span, spic 'n' span, Maine Coon, coon cat, stitch and bitch, stitch 'n' bitch
  `)
}
