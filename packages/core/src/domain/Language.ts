import { Schema } from "effect"

/** A language for which the service has a list of forbidden words. */
export const Language = Schema.Literal("ar", "de", "en", "es", "fr", "it").annotations({ identifier: "Language" })
/** A language code of ISO 639-1 in {@link Language}. */
export type Language = typeof Language.Type

// The time zones where a language other than English and French is spoken at the counter.
const zones: Partial<Record<Language, RegExp>> = {
  ar: /^(africa\/(tunis|algiers|casablanca|el_aaiun|tripoli|cairo|khartoum|nouakchott|djibouti|mogadishu)|indian\/comoro|asia\/(beirut|damascus|amman|baghdad|kuwait|riyadh|bahrain|qatar|dubai|muscat|aden|gaza|hebron))$/,
  de: /^europe\/(berlin|busingen|vienna|zurich|vaduz|luxembourg)$/,
  es: /^(europe\/madrid|atlantic\/canary|africa\/(ceuta|malabo)|america\/(argentina\/[a-z_]+|buenos_aires|mexico_city|monterrey|merida|cancun|chihuahua|hermosillo|mazatlan|tijuana|bogota|lima|santiago|punta_arenas|caracas|guayaquil|montevideo|asuncion|la_paz|panama|costa_rica|guatemala|havana|santo_domingo|el_salvador|tegucigalpa|managua|puerto_rico))$/,
  it: /^europe\/(rome|vatican|san_marino|zurich)$/
}

/** The default languages of a shop: English, French, and the language of its time zone. */
export const languagesIn = (time_zone: string): ReadonlyArray<Language> => {
  const zone = time_zone.toLowerCase()
  return ["en", "fr", ...Language.literals.filter((language) => zones[language]?.test(zone))]
}
