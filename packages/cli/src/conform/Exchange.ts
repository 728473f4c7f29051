/** A request as it was sent, and the answer as it came. */
export interface Exchange {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly answer: {
    readonly status: number
    /** By their names in lower case. */
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
}

/** What must not be printed, by the shell variable that stands for it. */
export type Secrets = Readonly<Record<string, string>>

/** A text without keys and secrets, also those that the cases made: reports are kept and passed on. */
export const masked = (text: string): string =>
  text
    .replaceAll(/\b(wk_live_|wk_test_|whsec_)[\w-]+/g, "$1\u2026")
    .replaceAll(/"(key|secret)" ?: ?"[^"]*"/g, (whole, name) =>
      whole.includes("\u2026") ? whole : `"${name}":"\u2026"`
    )

/** A header as it may be shown: of a bearer token, that there was one. */
const maskedHeader = (name: string, value: string): string =>
  /^authorization$/i.test(name)
    ? value.replace(/^Bearer .+/, (given) => (given === masked(given) ? "Bearer \u2026" : masked(given)))
    : masked(value)

const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Quoted for a shell, a secret as its variable, which only double quotes let through; undefined where it holds none. */
const withVariable = (text: string, secrets: Secrets): string | undefined => {
  const [variable, secret] = Object.entries(secrets).find(([, secret]) => text.includes(secret)) ?? []
  if (variable === undefined || secret === undefined) return undefined
  const escaped = text.replaceAll(/["$`\\]/g, "\\$&")
  return `"${escaped.replaceAll(secret, `$${variable}`)}"`
}

const LONGEST_BODY = 2000

/** The request as a line to paste into a shell. */
export const curl = ({ method, url, headers, body }: Exchange, secrets: Secrets): string => {
  const how = method === "HEAD" ? ["-I"] : method === "GET" ? [] : ["-X", method]
  const long = body !== undefined && body.length > LONGEST_BODY
  return [
    "curl -si",
    ...how,
    single(url),
    ...Object.entries(headers).flatMap(([name, value]) => [
      "-H",
      withVariable(`${name}: ${value}`, secrets) ?? single(`${name}: ${maskedHeader(name, value)}`)
    ]),
    ...(body === undefined ? [] : ["--data-raw", single(masked(long ? `${body.slice(0, LONGEST_BODY)}…` : body))]),
    ...(long ? [`# the body has ${body.length} characters`] : [])
  ].join(" ")
}

const TOLD = /^(content-type|request-id|ratelimit-.*|retry-after|idempotent-replayed|location)$/

/** The answer as text: its status, the headers that the specification speaks of, its body. */
export const answered = ({ answer: { status, headers, body } }: Exchange): string => {
  const told = Object.entries(headers).filter(([name]) => TOLD.test(name))
  const shown = body.length > LONGEST_BODY ? `${body.slice(0, LONGEST_BODY)}…` : body
  return [`HTTP ${status}`, ...told.map(([name, value]) => `${name}: ${value}`), "", masked(shown)].join("\n")
}
