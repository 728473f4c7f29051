import { Limits } from "./Limits.js"
import { isCleanText } from "./Text.js"

/** What no address may be, whatever it is for, in words that say what to change. */
export const urlRefusals = {
  length: `must be at most ${Limits.url_characters} characters`,
  space: "must not hold white space or control characters",
  credentials: "must not hold a user name or a password"
} as const

/** What is wrong with a text before `URL` reads it, which would drop tabs and newlines and escape spaces in silence. */
export const urlTextRefusal = (text: string): string | undefined => {
  if (text.length > Limits.url_characters) return urlRefusals.length
  return /\s/.test(text) || !isCleanText(text) ? urlRefusals.space : undefined
}

/** Whether an address tells a secret to everybody who sees it. */
export const hasCredentials = ({ username, password }: URL): boolean => username !== "" || password !== ""
