import { type LanguageWords, splitEntries } from "./entries.js"

/**
 * Left out because of their harmless sense: Wichse (shoe polish), Nippel, Rosette, Schabracke, Muschi, poppen, bumsen,
 * Schwanz.
 */
export const German: LanguageWords = {
  rude: splitEntries(`
    Arsch, Ärsche, Arschloch, Arschlöcher, Arschgeige, Arschficker, Arschlecker, leck mich, Fick, ficken, fickt,
    ficker, gefickt, fick dich, verfickt, verfickte, verfickter, Fotze, Fotzen, Hure, Huren, Hurensohn, Hurensöhne,
    Nutte, Nutten, Schlampe, Schlampen, Wichser, Wixer, Scheiße, Scheisse, Scheiß, Scheiss, Scheißdreck, Scheisskerl,
    Scheißkerl, scheißegal, beschissen, beschissene, beschissener, beschissenes, verpiss dich, Schwuchtel,
    Schwuchteln, Schwanzlutscher, Kanake, Kanaken, Neger, Kackbratze, Hackfresse, Missgeburt, Mistkerl, Miststück,
    Drecksau, Spast, Spasti, Möse, Pimmel, Titten, Judensau, Kümmeltürke, 🖕
  `),
  plain: splitEntries("dick, Ass, Bastard-Feile, Bastard-Feilen, Bastard-Hieb")
}
