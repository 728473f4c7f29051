import { Either, type Schema } from "effect"
import { Limits } from "./Limits.js"
import { isCleanText, makeTextSchema } from "./Text.js"

/** The refusals of an address, each with its message. */
export const urlRefusals = {
  length: `must be at most ${Limits.url_characters} characters`,
  space: "must not contain white space or control characters",
  credentials: "must not contain a user name or a password"
} as const

/**
 * The refusal of a text before `URL` parses it, because `URL` would silently remove tabs and newlines and escape
 * spaces.
 */
export const urlTextRefusal = (text: string): string | undefined => {
  if (text.length > Limits.url_characters) return urlRefusals.length
  return /\s/.test(text) || !isCleanText(text) ? urlRefusals.space : undefined
}

/** Whether an address contains credentials, which everyone who sees the address could read. */
export const hasCredentials = ({ username, password }: URL): boolean => username !== "" || password !== ""

const refusalOf = (text: string, schemes: ReadonlyArray<string>): string | undefined => {
  const refusal = urlTextRefusal(text)
  if (refusal !== undefined) return refusal
  // This checks the text and not the result of `URL`, which adds a missing slash.
  if (!schemes.some((scheme) => text.slice(0, scheme.length).toLowerCase() === scheme))
    return `must start with ${schemes.join(" or ")}`
  if (!URL.canParse(text)) return "must be a web address such as https://shop.example.com/"
  return hasCredentials(new URL(text)) ? urlRefusals.credentials : undefined
}

const makeWebLink = (schemes: ReadonlyArray<string>): Schema.Schema<string> =>
  makeTextSchema(
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
 * An address that people open in a browser, stored as given: http or https, without credentials. `WebhookAddress` is stricter, because the
 * service itself calls it.
 */
export const WebLink = makeWebLink(["https://", "http://"])

/** Like {@link WebLink}, but https only: for pictures in https pages, where browsers refuse http. */
export const SecureWebLink = makeWebLink(["https://"])
