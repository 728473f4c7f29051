import { STATUS_CODES } from "node:http"
import { Limits } from "@workshop/core"
import {
  BodyIncomplete,
  type HttpRequest,
  type HttpResponse,
  type RequestContext,
  type RequestIssue
} from "@workshop/core/http"
import { makeRepeatedIssue } from "@workshop/core/internal"
import { respond } from "@workshop/core/internal/http"
import { Effect } from "effect"
import { requestFromHead } from "./nodeRequest.js"

/** Node's report of a request that it could not parse. */
export interface ParseError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
  /** The number of valid bytes in `rawPacket`. */
  readonly bytesParsed?: number
}

/** The error code of a head or a request that took too long. */
export const REQUEST_TIMED_OUT = "ERR_HTTP_REQUEST_TIMEOUT"

/** The error code of a request with several Host headers (RFC 9112 §3.2). */
export const SEVERAL_HOSTS = "SEVERAL_HOSTS"

const issues: Readonly<Record<string, RequestIssue>> = {
  HPE_HEADER_OVERFLOW: {
    in: "header",
    field: "header",
    message: `must be at most ${Limits.request_head_bytes} bytes, including the request line`
  },
  [REQUEST_TIMED_OUT]: {
    in: "header",
    field: "header",
    message: "must arrive sooner, before the server closes the connection"
  },
  [SEVERAL_HOSTS]: makeRepeatedIssue("header", "Host")
}

const notHttp1: RequestIssue = { in: "header", field: "header", message: "must be valid HTTP/1.1" }

/**
 * The response to input that is not HTTP. It has no rate-limit headers, because the input has no route or key
 * (Specification, Limits).
 */
export const notHttpResponse = (code: string | undefined, context: RequestContext): HttpResponse =>
  respond({ _tag: "InvalidRequest", issues: [issues[code ?? ""] ?? notHttp1] }, context)

/** The text of the last response on a connection that node no longer handles. */
export const rawResponse = ({ status, headers, body }: HttpResponse): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body
  ].join("\r\n")

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) (\S+) HTTP\/1\.[01]\r\n/

/**
 * Parses a request whose method node's parser does not know, because an unknown method must be a 404 (Specification,
 * Errors). Undefined if the bytes are not HTTP.
 */
export const unknownMethod = (
  { rawPacket, bytesParsed = 0 }: ParseError,
  remoteAddress: string | undefined,
  trustProxy: boolean
): HttpRequest | undefined => {
  const text = rawPacket?.toString("latin1") ?? ""
  const start = text.lastIndexOf("\n", bytesParsed - 1) + 1
  const [head, isWhole] = text.slice(start).split("\r\n\r\n", 2)
  const [line, method = "", url = ""] = REQUEST_LINE.exec(`${head}\r\n`) ?? []
  if (line === undefined || isWhole === undefined) return undefined
  const rawHeaders = head!
    .slice(line.length)
    .split("\r\n")
    .flatMap((field) => {
      const colon = field.indexOf(":")
      return [field.slice(0, Math.max(0, colon)).toLowerCase(), field.slice(colon + 1).trim()]
    })
  const header = (name: string) => rawHeaders.find((_, i) => i % 2 === 1 && rawHeaders[i - 1] === name)
  const requestHead = { method, url, header, rawHeaders, remoteAddress }
  return requestFromHead(requestHead, trustProxy, () => Effect.fail(new BodyIncomplete()))
}
