import { signal } from "@preact/signals"
import type { Json } from "./model.js"

/** The base of the server's paths, which works behind a proxy that adds a path. */
const base = new URL(".", location.href)
const STORED = "workshop-sandbox-token"

/** The sandbox's token, which is stored for this tab only. */
export const token = signal(sessionStorage.getItem(STORED) ?? "")

/** Whether the sandbox needs a token and has received none. */
export const isTokenNeeded = signal(false)
/** Whether the sandbox refused the token. */
export const isTokenWrong = signal(false)
/** Whether the last read could not reach the server. */
export const isGone = signal(false)

/** The notice after an act while the server does not respond. */
export const SILENT = "The server does not respond, so nothing was done. Try again when the server responds."

/** Stores the token for this tab. */
export const giveToken = (text: string): void => {
  sessionStorage.setItem(STORED, text)
  token.value = text
  isTokenNeeded.value = false
  isTokenWrong.value = false
}

/** The absolute address of a path of the server. */
export const addressOf = (path: string): string => new URL(path.replace(/^\//, ""), base).href

/** A request as it was sent. */
export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly body: Json
  readonly headers: Readonly<Record<string, string>>
}

/** A response to a request. `status` is 0 if the connection was lost. */
export interface Answer {
  readonly sent: SentRequest
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
    const readData: Json = text === "" ? null : JSON.parse(text)
    isGone.value = false
    if (response.status === 401 && path.startsWith("/sandbox")) {
      isTokenNeeded.value = true
      isTokenWrong.value = bearer !== ""
    }
    return { sent, status: response.status, ok: response.ok, body: readData, data: readData?.data }
  } catch {
    // Only a GET shows that the server does not respond, because a fault may have cut the connection of any other
    // request.
    if (method === "GET") isGone.value = true
    else await read("/clock")
    const message = isGone.value
      ? SILENT
      : "The connection was cut before a response, so the request may or may not have been executed."
    return { sent, status: 0, ok: false, body: { error: { message } }, data: undefined }
  }
}

/** Reads data of the sandbox; undefined if the request fails. */
export const read = async <A>(path: string): Promise<A | undefined> => {
  const { ok, data } = await send("GET", `/sandbox${path}`)
  return ok ? (data as A) : undefined
}

/** The labels of API fields on the page. */
const LABELS: Readonly<Record<string, string>> = {
  client_phone: "Phone",
  price_minor: "Price",
  promised_at: "Days from now",
  photo_url: "Address of the picture",
  url: "Address of the webhook",
  forward_to: "Forward to",
  time_zone: "Time zone"
}

/** The text about a refusal: the code or reason, the message, and the fields that the refusal names. */
export const refusalOf = ({ status, body }: Pick<Answer, "status" | "body">): string => {
  const { message = "", details, code } = body?.error ?? {}
  if (status === 0) return message
  const issues: ReadonlyArray<Json> = details?.issues ?? []
  const named = issues.map(({ field, message: why }) =>
    field in LABELS ? `${LABELS[field]} (${field}) ${why}` : `${field} ${why}`
  )
  return `${`${status} ${details?.reason ?? code ?? ""}`.trim()}: ${named.length === 0 ? message : named.join("; ")}`
}
