/** A language in which a ticket's page is written. */
export type TrackingLanguage = "en" | "fr" | "ar"

/** The language of a page, and the locale in which its dates and amounts are written, such as `fr-CH`. */
export interface TrackingLocale {
  /** The language of the texts. */
  readonly language: TrackingLanguage
  /** The BCP 47 tag for the formats of dates and amounts, such as `fr-CH`. */
  readonly locale: string
}

const languages: ReadonlyArray<TrackingLanguage> = ["en", "fr", "ar"]

/** The maximum number of a header's languages that are read. */
const MAX_LANGUAGES = 20

/** One entry of `Accept-Language`: a language, an optional script and region, and a quality (RFC 9110 §12.5.4). */
const ENTRY =
  /^([a-z]{2,3})(?:-[a-z]{4})?(?:-([a-z]{2}|\d{3}))?(?:-[a-z0-9-]+)?\s*(?:;\s*q=(0(?:\.\d{1,3})?|1(?:\.0{1,3})?))?$/i

const readEntry = (text: string): { readonly locale: TrackingLocale; readonly weight: number } | null => {
  const [, named = "", region, weight = "1"] = ENTRY.exec(text.trim()) ?? []
  const language = languages.find((language) => language === named.toLowerCase())
  if (language === undefined || Number(weight) === 0) return null
  const locale = region === undefined ? language : `${language}-${region.toUpperCase()}`
  return { locale: { language, locale }, weight: Number(weight) }
}

/** The available language with the highest quality, or English if there is none. */
export const localeOf = (accept_language: string | undefined): TrackingLocale => {
  const entries = (accept_language ?? "").split(",", MAX_LANGUAGES).flatMap((text) => readEntry(text) ?? [])
  const best = entries.reduce<(typeof entries)[number] | null>(
    (best, entry) => (best === null || entry.weight > best.weight ? entry : best),
    null
  )
  return best?.locale ?? { language: "en", locale: "en" }
}
