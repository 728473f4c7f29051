import { validateHeaderName, validateHeaderValue } from "node:http"
import { REQUEST_HEADERS, type WebhookPost } from "@workshop/core"
import type { Route } from "./Route.js"

/** The text of a request: its head, and the body byte for byte. */
export const requestText = ({ headers, body }: WebhookPost, { path, authority }: Route, user_agent: string): string => {
  let own = ""
  for (const [name, value] of Object.entries(headers)) {
    if (REQUEST_HEADERS.has(name.toLowerCase())) continue
    validateHeaderName(name)
    validateHeaderValue(name, value)
    own += `${name}: ${value}\r\n`
  }
  return `POST ${path} HTTP/1.1\r\nHost: ${authority}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nUser-Agent: ${user_agent}\r\nAccept-Encoding: identity\r\n${own}Connection: keep-alive\r\n\r\n${body}`
}
