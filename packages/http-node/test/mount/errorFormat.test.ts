import { once } from "node:events"
import { Agent, createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import {
  FileSystem,
  HttpApi,
  HttpApiBuilder,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiSchema,
  HttpMiddleware,
  HttpServer,
  HttpServerRequest,
  Multipart
} from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Entropy, Profanity } from "@workshop/core"
import { respondWithFailure } from "@workshop/core/http"
import { ApiKeys, apiBehind, errorFormat, groups } from "@workshop/core/http/joined"
import * as MemoryStore from "@workshop/store-memory"
import { Context, Effect, flow, Layer, Logger, ManagedRuntime, Option, Schema } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { layer as services } from "../../../core/src/services/Workshop.js"

const Tag = Schema.String.pipe(Schema.maxLength(9, { message: () => "must be at most 9 characters" }))
const Note = Schema.Struct({ text: Schema.NonEmptyString, tags: Schema.Array(Tag) })
const Query = Schema.Struct({
  page: Schema.optional(Schema.NumberFromString),
  shown: Schema.optional(Schema.Literal("true", "false", "all")),
  tags: Schema.optional(Schema.Array(Tag))
})

/** A service that only the endpoint's layer provides. */
class Words extends Context.Tag("Words")<Words, (text: string) => boolean>() {}
const Word = Schema.String.pipe(
  Schema.filterEffect((text) => Effect.map(Words, (isKnown) => isKnown(text) || "must be a word"))
)

class Notes extends HttpApiGroup.make("notes")
  .add(
    HttpApiEndpoint.put("write", "/notes/:id")
      .setPath(Schema.Struct({ id: Schema.NumberFromString }))
      .setHeaders(Schema.Struct({ "x-version": Schema.NumberFromString }))
      .setUrlParams(Query)
      .setPayload(Note)
      .addSuccess(Schema.String)
  )
  .add(HttpApiEndpoint.get("list", "/notes").setUrlParams(Query).addSuccess(Schema.String))
  .add(
    HttpApiEndpoint.get("find", "/words")
      .setPayload(Schema.Struct({ word: Word }))
      .addSuccess(Schema.String)
  )
  .add(HttpApiEndpoint.get("wrong", "/wrong").addSuccess(Schema.Struct({ text: Schema.NonEmptyString })))
  .add(
    HttpApiEndpoint.post("attach", "/files")
      .setPayload(HttpApiSchema.Multipart(Schema.Struct({ files: Multipart.FilesSchema, note: Schema.String })))
      .addSuccess(Schema.String)
  )
  .add(HttpApiEndpoint.put("keep", "/text").setPayload(HttpApiSchema.Text()).addSuccess(Schema.String))
  .add(
    HttpApiEndpoint.post("read", "/raw")
      .setHeaders(Schema.Struct({ "x-version": Schema.NumberFromString }))
      .setPayload(Note)
      .addSuccess(Schema.Number)
  ) {}

class MyApi extends HttpApi.make("mine").add(Notes).addHttpApi(apiBehind(ApiKeys).prefix("/workshop")) {}

const notes = HttpApiBuilder.group(MyApi, "notes", (handlers) =>
  handlers
    .handle("write", ({ payload }) => Effect.succeed(payload.text))
    .handle("list", ({ urlParams: { tags = [] } }) => Effect.succeed(tags.join()))
    .handle("find", () => Effect.succeed("found"))
    .handle("wrong", () => Effect.succeed({ text: "" }))
    .handle("keep", ({ payload }) => Effect.succeed(payload))
    .handle("attach", () => Effect.succeed("attached"))
    .handleRaw("read", ({ request }) => request.json.pipe(Effect.as(1), Effect.catchAll(respondWithFailure)))
)

const node = createServer()
const log: Array<string> = []
const logger = Logger.make(({ cause, message }) => void log.push(`${message} ${cause}`))
const middleware = flow(HttpMiddleware.logger, HttpServerRequest.withMaxBodySize(Option.some(FileSystem.KiB(64))))
const parts = Layer.mergeAll(Layer.provide(groups(MyApi), ApiKeys.layer), errorFormat(MyApi), notes).pipe(
  Layer.provideMerge(Layer.succeed(Words, (text: string) => text === "hem")),
  Layer.provide(services),
  Layer.provide(MemoryStore.layer),
  Layer.provide(Profanity.layer),
  Layer.provide(Entropy.layerSeeded(4)),
  Layer.provide(Logger.replace(Logger.defaultLogger, logger))
)
const runtime = ManagedRuntime.make(
  HttpApiBuilder.serve(middleware).pipe(
    Layer.provide(NodeHttpServer.layer(() => node, { host: "127.0.0.1", port: 0 })),
    Layer.provide(HttpApiBuilder.api(MyApi)),
    Layer.provide(parts),
    Layer.provide(Logger.replace(Logger.defaultLogger, logger))
  )
)
await runtime.runtime()
const agent = new Agent({ keepAlive: true })
afterAll(() => {
  agent.destroy()
  return runtime.dispose()
})

const ask = async (
  method: string,
  path: string,
  body: string | Uint8Array = "",
  extraHeaders: Record<string, string> = {}
) => {
  const headers = { "content-type": "application/json", "x-version": "1", ...extraHeaders }
  const { port } = node.address() as AddressInfo
  const sending = request({ port, host: "127.0.0.1", method, path, headers, agent })
  sending.on("error", () => undefined)
  sending.end(body)
  const [response] = await once(sending, "response")
  let text = ""
  for await (const part of response.setEncoding("utf8")) text += part
  return [response.statusCode, text === "" ? null : JSON.parse(text)] as const
}

const message = "The request is invalid. details.issues lists what to change."
const refusal = (...issues: ReadonlyArray<readonly [place: string, field: string, message: string]>) => [
  400,
  {
    success: false,
    error: {
      code: "VALIDATION_ERROR",
      message,
      details: { issues: issues.map(([place, field, message]) => ({ in: place, field, message })) }
    }
  }
]
const notFound = [
  404,
  { success: false, error: { code: "NOT_FOUND", message: "The API has no endpoint with this method and path" } }
]
const note = JSON.stringify({ text: "Hem", tags: [] })

describe("errorFormat gives an HttpApi's errors the format of the API's errors (Specification, Errors)", () => {
  it("a 400 lists all invalid values of a request at once, with their places and with the API's messages", async () => {
    const body = JSON.stringify({ text: "", tags: ["0123456789"] })
    expect(await ask("PUT", "/notes/1", note)).toEqual([200, "Hem"])
    // An invalid path, query or header is reported before the body is read.
    expect(await ask("PUT", "/notes/abc?page=x&shown=maybe", body, { "x-version": "new" })).toEqual(
      refusal(
        ["path", "id", "must be a number"],
        ["query", "page", "must be a number"],
        ["query", "shown", "must be one of true, false, all"],
        ["header", "X-Version", "must be a number"]
      )
    )
    expect(await ask("PUT", "/notes/1?page=x", body)).toEqual(
      refusal(
        ["query", "page", "must be a number"],
        ["body", "text", "must be a non empty string"],
        ["body", "tags.0", "must be at most 9 characters"]
      )
    )
  })

  it("an invalid item of a list parameter is reported under the parameter's name, without the index", async () => {
    expect(await ask("GET", "/notes?tags=a")).toEqual([200, "a"])
    expect(await ask("GET", "/notes?tags=a&page=x")).toEqual(refusal(["query", "page", "must be a number"]))
    expect(await ask("GET", "/notes?tags=a&tags=0123456789")).toEqual(
      refusal(["query", "tags", "must be at most 9 characters"])
    )
  })

  it("an invalid value whose schema needs a service is reported alone, with the schema's message", async () => {
    expect(await ask("GET", "/words?word=hem")).toEqual([200, "found"])
    expect(await ask("GET", "/words?word=zip")).toEqual(refusal(["query", "word", "must be a word"]))
  })

  it("a body that is not JSON, or has another content type, is refused with a message that names the requirement", async () => {
    expect(await ask("PUT", "/notes/1", "{")).toEqual(refusal(["body", "body", "must be valid JSON in UTF-8"]))
    const notJson = refusal(["header", "Content-Type", "must be application/json"])
    for (const type of ["application/x-www-form-urlencoded", "text/plain", "application/xml"])
      expect(await ask("PUT", "/notes/1", note, { "content-type": type })).toEqual(notJson)
  })

  it("a body that is not UTF-8, or is compressed, is refused with the API's message", async () => {
    const bytes = Buffer.from(note.replace("Hem", "Hém"), "latin1")
    expect(await ask("PUT", "/notes/1", bytes)).toEqual(refusal(["body", "body", "must be valid JSON in UTF-8"]))
    const text = await ask("PUT", "/text", bytes, { "content-type": "text/plain" })
    expect(text).toEqual(refusal(["body", "body", "must be in UTF-8"]))
    const compressed = await ask("PUT", "/notes/1", gzipSync(note), { "content-encoding": "gzip" })
    const issue = [
      "header",
      "Content-Encoding",
      "must be omitted, because the service does not accept compressed bodies"
    ] as const
    expect(compressed).toEqual(refusal(issue))
  })

  it("the body of a web Request is read even without a Content-Length", async () => {
    const { handler, dispose } = HttpApiBuilder.toWebHandler(
      Layer.mergeAll(HttpApiBuilder.api(MyApi).pipe(Layer.provide(parts)), HttpServer.layerContext)
    )
    const put = async (body: string | null) => {
      const headers = { "content-type": "application/json", "x-version": "1" }
      const response = await handler(new Request("http://mine.test/notes/1", { method: "PUT", headers, body }))
      return [response.status, await response.json()]
    }
    expect(await put(note)).toEqual([200, "Hem"])
    expect(await put("{")).toEqual(refusal(["body", "body", "must be valid JSON in UTF-8"]))
    expect(await put(null)).toEqual(refusal(["body", "body", "must be valid JSON in UTF-8"]))
    await dispose()
  })

  it("the 400 of a multipart form names the invalid part", async () => {
    const form = '--x\r\ncontent-disposition: form-data; name="other"\r\n\r\nHem\r\n--x--\r\n'
    const [status, { error }] = await ask("POST", "/files", form, { "content-type": "multipart/form-data; boundary=x" })
    expect([status, error.details.issues]).toEqual([400, [{ in: "body", field: "files", message: "is missing" }]])
  })

  it("a handler of handleRaw reads the body itself, and its failure to read it is a 400", async () => {
    const wrongHeader = await ask("POST", "/raw", "{", { "x-version": "new" })
    expect(wrongHeader).toEqual(refusal(["header", "X-Version", "must be a number"]))
    expect(await ask("POST", "/raw", "{}")).toEqual([200, 1])
    expect(await ask("POST", "/raw", "{")).toEqual(refusal(["body", "body", "must be valid JSON in UTF-8"]))
    const large = " ".repeat(70_000)
    expect(await ask("POST", "/raw", large)).toEqual(refusal(["body", "body", "must be at most 65536 bytes"]))
  })

  it.each([70_000, 1_000_000])("a body of %d bytes is refused, and the client gets the response", async (bytes) => {
    const large = refusal(["body", "body", "must be at most 65536 bytes"])
    expect(await ask("PUT", "/notes/1", " ".repeat(bytes))).toEqual(large)
    expect(await ask("PUT", "/notes/1", " ".repeat(bytes), { "transfer-encoding": "chunked" })).toEqual(large)
    expect(await ask("PUT", "/notes/1", note)).toEqual([200, "Hem"])
  })

  it("an unknown path, another method and malformed percent-encoding are the API's 404", async () => {
    for (const path of ["/nope", "/workshop/nope", "/notes/%E0", "/workshop/v1/tickets/%E0"])
      expect(await ask("GET", path)).toEqual(notFound)
    expect(await ask("DELETE", "/notes/1")).toEqual(notFound)
  })

  it("a path segment of more than 100 characters reaches its endpoint, whose 400 names the parameter", async () => {
    const long = "x".repeat(101)
    expect(await ask("PUT", `/notes/${long}`, note)).toEqual(refusal(["path", "id", "must be a number"]))
    const [status, { error }] = await ask("GET", `/workshop/v1/tickets/${long}`)
    expect([status, error.code]).toEqual([401, "UNAUTHENTICATED"])
  })

  it("a response that does not match its schema becomes a 500, and the log has the reason", async () => {
    log.length = 0
    expect(await ask("GET", "/wrong")).toEqual([500, null])
    expect(log.join()).toContain("The response to GET /wrong does not match its schema")
  })
})
