import { Either, type Schema } from "effect"
import { Limits } from "./Limits.js"
import { keptText } from "./Text.js"
import { hasCredentials, urlRefusals, urlTextRefusal } from "./UrlText.js"

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
