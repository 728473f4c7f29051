import { createHash } from "node:crypto"
import { type HttpRequest, type HttpResponse, pageResponse, type RequestContext } from "@workshop/core/http"

/** A body that is the same for everybody: one copy for all answers, and a tag by which a client knows its own copy. */
export interface ConstantBody {
  /** Its media type. */
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
}

/** How long a client may use its copy without asking. */
const CACHE_CONTROL = "public, max-age=300"

/** Readies a body, text or bytes, to be answered many times. */
export const constantBody = (type: string, text: string | Uint8Array): ConstantBody => {
  const bytes = Buffer.from(text)
  return { type, bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"` }
}

const isKnown = (etag: string, header: HttpRequest["header"]): boolean =>
  (header("if-none-match") ?? "").split(",").some((tag) => tag.trim() === etag || tag.trim() === `W/${etag}`)

/** Answers with the body, or with 304 where the client has it already. */
export const sendConstant = (
  { type, bytes, etag }: ConstantBody,
  { header }: HttpRequest,
  stamp: RequestContext
): HttpResponse => {
  const headers = {
    ...pageResponse("", stamp).headers,
    "Content-Type": type,
    "Cache-Control": CACHE_CONTROL,
    ETag: etag
  }
  return isKnown(etag, header) ? { status: 304, headers, body: "" } : { status: 200, headers, body: bytes }
}
