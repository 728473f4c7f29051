import { type LanguageWords, splitEntries } from "./entries.js"

/** Left out because of their harmless sense: culo, polla, concha, verga, pinche, zorra, martillo, negro. */
export const Spanish: LanguageWords = {
  rude: splitEntries(`
    mierda, mierdas, puta, putas, puto, putos, putada, putadas, hijo de puta, hijos de puta, hija de puta, hijoputa,
    hijaputa, cabrón, cabron, cabrones, cabrona, cabronas, gilipollas, jilipollas, gilipuertas, coño, coños, joder,
    jodido, jodida, jodidos, jodidas, follar, follador, chupapollas, soplapollas, mi polla, tu polla, lameculos,
    mamahuevo, mamaguevo, maricón, maricon, maricones, mariconazo, pendejo, pendejos, pendeja, pendejas, pelotudo,
    pelotudos, pelotuda, malparido, malparidos, malparida, conchetumadre, conchetumare, concha de tu madre,
    la concha de tu, a la verga, tu verga, vete al carajo, por culo, tu culo, me cago en, bastardo, bastardos, ramera,
    rameras, sudaca, sudacas, tetas grandes, 🖕
  `),
  plain: splitEntries("corte bastardo, rosca bastarda, clavo bastardo, Kike, negre, negres")
}
