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

const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Quoted for a shell; a secret becomes its variable, which only double quotes let through. */
const quoted = (text: string, secrets: Secrets): string => {
  const [variable, secret] = Object.entries(secrets).find(([, secret]) => text.includes(secret)) ?? []
  if (variable === undefined || secret === undefined) return single(text)
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
    ...Object.entries(headers).flatMap(([name, value]) => ["-H", quoted(`${name}: ${value}`, secrets)]),
    ...(body === undefined ? [] : ["--data-raw", single(long ? `${body.slice(0, LONGEST_BODY)}…` : body)]),
    ...(long ? [`# the body has ${body.length} characters`] : [])
  ].join(" ")
}

const TOLD = /^(content-type|request-id|ratelimit-.*|retry-after|idempotent-replayed|location)$/

/** The answer as text: its status, the headers that the specification speaks of, its body. */
export const answered = ({ answer: { status, headers, body } }: Exchange): string => {
  const told = Object.entries(headers).filter(([name]) => TOLD.test(name))
  const shown = body.length > LONGEST_BODY ? `${body.slice(0, LONGEST_BODY)}…` : body
  return [`HTTP ${status}`, ...told.map(([name, value]) => `${name}: ${value}`), "", shown].join("\n")
}
