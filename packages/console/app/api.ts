import { signal } from "@preact/signals"

/** The folder that the server's paths begin in, also behind a proxy that adds a path. */
const base = new URL(".", location.href)
const STORED = "workshop-sandbox-token"

/** The sandbox's token, kept for this tab alone. */
export const token = signal(sessionStorage.getItem(STORED) ?? "")

/** Whether the sandbox asks for a token that it was not given. */
export const isTokenNeeded = signal(false)
/** Whether the sandbox refused the token that it was given. */
export const isTokenWrong = signal(false)
/** Whether the server could not be reached by the last read. */
export const isGone = signal(false)

/** Keeps the token for this tab. */
export const giveToken = (text: string): void => {
  sessionStorage.setItem(STORED, text)
  token.value = text
  isTokenNeeded.value = false
  isTokenWrong.value = false
}

/** The absolute address of a path of the server. */
export const addressOf = (path: string): string => new URL(path.replace(/^\//, ""), base).href

// biome-ignore lint/suspicious/noExplicitAny: responses are read where their shape is known
export type Json = any

/** A request as it was sent. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly body: Json
  readonly headers: Readonly<Record<string, string>>
}

/** A response to a request. `status` is 0 where the connection was lost. */
export interface Answer {
  readonly sent: Sent
  readonly status: number
  readonly ok: boolean
  readonly body: Json
  readonly data: Json
}

/** Sends a request. */
export const send = async (
  method: string,
  path: string,
  { body, headers = {}, bearer = token.value }: { body?: Json; headers?: Record<string, string>; bearer?: string } = {}
): Promise<Answer> => {
  const sent = { method, path, body, headers }
  try {
    const response = await fetch(addressOf(path), {
      method,
      headers: {
        ...(bearer === "" ? {} : { Authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    const read: Json = text === "" ? null : JSON.parse(text)
    isGone.value = false
    if (response.status === 401 && path.startsWith("/sandbox")) {
      isTokenNeeded.value = true
      isTokenWrong.value = bearer !== ""
    }
    return { sent, status: response.status, ok: response.ok, body: read, data: read?.data }
  } catch (error) {
    // The connection of any other request may have been cut on purpose.
    if (method === "GET") isGone.value = true
    return {
      sent,
      status: 0,
      ok: false,
      body: { error: { code: "NO_ANSWER", message: String(error) } },
      data: undefined
    }
  }
}

/** The data of a read of the sandbox; undefined where it fails. */
export const read = async <A>(path: string): Promise<A | undefined> => {
  const { ok, data } = await send("GET", `/sandbox${path}`)
  return ok ? (data as A) : undefined
}

/** The code or reason with which a request was refused. */
export const refusalOf = ({ status, body }: Pick<Answer, "status" | "body">): string =>
  status === 0 ? "no answer" : `${status} ${body?.error?.details?.reason ?? body?.error?.code ?? ""}`.trim()
