import { Either, type Schema } from "effect"
import { Limits } from "./Limits.js"
import { isCleanText, keptText } from "./Text.js"

/** The refusals that hold for every address, each as an advice. */
export const urlRefusals = {
  length: `must be at most ${Limits.url_characters} characters`,
  space: "must not hold white space or control characters",
  credentials: "must not hold a user name or a password"
} as const

/** The refusal of a text before `URL` reads it, because `URL` would drop tabs and newlines and escape spaces in silence. */
export const urlTextRefusal = (text: string): string | undefined => {
  if (text.length > Limits.url_characters) return urlRefusals.length
  return /\s/.test(text) || !isCleanText(text) ? urlRefusals.space : undefined
}

/** Whether an address contains credentials, which everybody who sees it could read. */
export const hasCredentials = ({ username, password }: URL): boolean => username !== "" || password !== ""

const refusalOf = (text: string, schemes: ReadonlyArray<string>): string | undefined => {
  const refusal = urlTextRefusal(text)
  if (refusal !== undefined) return refusal
  // The text and not what `URL` makes of it, which makes up for a missing slash.
  if (!schemes.some((scheme) => text.slice(0, scheme.length).toLowerCase() === scheme))
    return `must start with ${schemes.join(" or ")}`
  if (!URL.canParse(text)) return "must be a web address such as https://shop.example.com/"
  return hasCredentials(new URL(text)) ? urlRefusals.credentials : undefined
}

const link = (schemes: ReadonlyArray<string>): Schema.Schema<string> =>
  keptText(
    (text) => {
      const trimmed = text.trim()
      const refusal = refusalOf(trimmed, schemes)
      return refusal === undefined ? Either.right(trimmed) : Either.left(refusal)
    },
    {
      type: "string",
      format: "uri",
      maxLength: Limits.url_characters,
      description: `A web address that starts with ${schemes.join(" or ")}`
    }
  )

/**
 * An address that people open in a browser, kept as it was given: http or https, without credentials. Where the service
 * itself calls, `WebhookAddress` is stricter.
 */
export const WebLink = link(["https://", "http://"])

/** As {@link WebLink}, https alone: for what other pages show, which browsers refuse over http. */
export const SecureWebLink = link(["https://"])
