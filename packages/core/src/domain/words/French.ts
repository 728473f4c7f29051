import { type LanguageWords, splitEntries } from "./entries.js"

/**
 * Left out because of their harmless sense: con, cul, bite, chatte, gueule, suce, pédale, folle, bander, ramoner, fdp,
 * pd, zizi.
 */
export const French: LanguageWords = {
  rude: splitEntries(`
    merde, merdes, merdique, merdiques, merdier, merdeux, merdeuse, merdeuses, emmerde, emmerdes, emmerdé, emmerder,
    emmerdant, emmerdants, emmerdante, emmerdeur, emmerdeurs, emmerdeuse, emmerdeuses, putain, putains, pute, putes,
    putasse, putasses, pétasse, pétasses, petasse, petasses, pouffiasse, pouffiasses, poufiasse, poufiasses,
    grognasse, grognasses, connard, connards, connarde, connardes, conard, conards, connasse, connasses, conne,
    connes, connerie, conneries, un con, le con, ce con, quel con, sale con, gros con, petit con, vieux con,
    pauvre con, espèce de con, des cons, les cons, ces cons, sales cons, bande de cons, salaud, salauds, salope,
    salopes, salopard, salopards, saligaud, saligauds, enculé, enculés, enculée, enculées, enculer, enculeur,
    enculeurs, encule, encules, enculee, enculees, enfoiré, enfoirés, enfoirée, enfoirées, enfoire, enfoires,
    enfoiree, bâtard, bâtards, batard, batards, fils de pute, fils de putes, fille de pute, filles de pute, nique,
    niquer, niquez, niqué, niquée, nique ta mère, nique ta race, branleur, branleurs, branleuse, branleuses,
    branlette, branlettes, se branler, couille, couilles, couillon, couillons, bordel, foutre, chier, chie, chieur,
    chieurs, chieuse, chieuses, chiasse, étron, étrons, mon cul, ton cul, son cul, votre cul, gros cul, sale cul,
    dans le cul, plein le cul, pied au cul, trou du cul, trous du cul, trou de cul, trouduc, trouducul, lèche-cul, ta gueule, vos gueules,
    sale gueule, gueule de con, ma bite, ta bite, sa bite, la bite, une bite, tête de bite, ta chatte, sa chatte,
    suce ma, suce moi, suce-bite, pédé, pédés, pede, pedes, sale pédale, sale tapette, grosse tapette, gouine,
    gouines, tafiole, tafioles, tarlouze, tarlouzes, nègre, nègres, négro, négros, négresse, négresses, negre,
    negres, bougnoule, bougnoules, youpin, youpins, chinetoque, chinetoques, partouze, partouzes, zob, zobs,
    sac à foutre, sac à merde, clitoris, 🖕
  `),
  plain: splitEntries("pain bâtard, pas bâtard, chien bâtard, mur bâtard")
}
