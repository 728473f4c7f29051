import { type LanguageWords, splitEntries } from "./entries.js"

/**
 * Left out because of their harmless sense: sega, pompa, palle, culo, montare, battere, tirare, pesce, finocchio,
 * negro.
 */
export const Italian: LanguageWords = {
  rude: splitEntries(`
    cazzo, cazzi, cazzata, cazzate, cazzone, cazzoni, testa di cazzo, teste di cazzo, vaffanculo, affanculo, fanculo,
    leccaculo, in culo, coglione, coglioni, cogliona, stronzo, stronzi, stronza, stronze, stronzata,
    stronzate, merda, merde, merdoso, merdosa, merdata, puttana, puttane, puttanata, puttanate, figlio di puttana,
    figli di puttana, troia, troie, mignotta, mignotte, zoccola, bagascia, baldracca, bocchinara, pompino, pompini,
    frocio, froci, ricchione, ricchioni, recchione, culattone, minchia, minchione, bastardo, bastardi, fottere,
    fottiti, fottuto, fottuta, fottuti, sborra, sborrata, figa, fica, porco dio, dio porco, dio cane, porca madonna,
    porca puttana, porca troia, terrone, terroni, sporco negro, sporchi negri, 🖕
  `),
  plain: splitEntries("taglio bastardo, passo bastardo, cavallo di Troia, cavalli di Troia, guerra di Troia")
}
