import { type LanguageWords, splitEntries } from "./entries.js"

/**
 * Words in Latin and in Arabic letters. Left out because of their harmless sense: zeb, tizi, atay, tahan, 3asba (a
 * headdress), nik, فرج, قضيب, بز.
 */
export const Arabic: LanguageWords = {
  rude: splitEntries(`
    9a7ba, 9ahba, qa7ba, qahba, ka7ba, kahba, 9hab, qhab, weld el 9a7ba, wild el kahba, zebi, zebbi, zobbi, zob, zobb,
    sharmouta, sharmuta, sharmoota, charmouta, charmuta, sharamit, nik omek, nik ommek, nikomok, nikomek, nikommek,
    nik mok, nik yemmak, nayek, nayak, mnayek, manyak, manyouk, kos omak, kos ommak, kos omek, kuss ummak, koss emmak,
    kosomak, ksomak, kos okhtak, ya3tik 3asba, ya3tek 3asba, 3asba lik, 3la 3asbti, 3asbti, ya3tik asba, ya3tek asba, yaatik asba, yaatek asba, zok omek, zok ommek,
    zokomek, miboun, mibouna, zamel, zemel, zwamel, khara, khra, 5ara, 5ra, ayri fik, ayre feek, airi fik, tizak,
    tizek, teezak, ibn el kalb, ibn el sharmouta, weld el kelb,
    شرموطة, شرموطه, قحبة, قحبه, عاهرة, عاهره, كس امك, كس أمك, نيك امك, نيك أمك, متناك, متناكة, منيوك, زبي, خرا, طيزك,
    ابن الكلب, عرص, لوطي, 🖕
  `),
  plain: []
}
