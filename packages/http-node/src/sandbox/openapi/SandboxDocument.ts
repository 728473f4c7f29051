import * as OpenApi from "@effect/platform/OpenApi"
import { collectSchemas, normalizeSchema, toJson, toResponseSchema, withReferences } from "@workshop/core/internal/http"
import type { Json, JsonObject } from "@workshop/core/openapi"
import { SandboxApi } from "../SandboxApi.js"
import { introduction, pathIds } from "./SandboxWords.js"

const spec = OpenApi.fromApi(SandboxApi)

const rowOf = <A>(table: Readonly<Record<string, A>>, name: string): A => {
  const row = table[name]
  if (row === undefined) throw new Error(`SandboxWords.ts has no description of ${name}`)
  return row
}

const REQUEST_ID = { "Request-Id": { $ref: "#/components/headers/Request-Id" } }

const response = (status: string, { content }: OpenApi.OpenApiSpecResponse): JsonObject => {
  if (content !== undefined && "text/event-stream" in content)
    return {
      description: "The stream",
      headers: REQUEST_ID,
      content: { "text/event-stream": { schema: { type: "string" } } }
    }
  const schema = toResponseSchema(content?.["application/json"]?.schema) as JsonObject
  const { $ref } = schema
  const referencedSchema =
    typeof $ref === "string" ? (schemas[$ref.split("/").at(-1) ?? ""] as JsonObject | undefined) : undefined
  const words = status === "201" ? "Created" : status.startsWith("2") ? "The result" : referencedSchema?.description
  return { description: words ?? "Failed", headers: REQUEST_ID, content: { "application/json": { schema } } }
}

const parameter = (path: string, { name, in: place, required, schema }: OpenApi.OpenAPISpecParameter): JsonObject => {
  if (place === "path") {
    const [, of = ""] = /\/(\w+)\/\{id\}/.exec(path) ?? []
    return { name, in: place, required, description: rowOf(pathIds, of), schema: { type: "string", format: "uuid" } }
  }
  const { description, examples: _, ...own } = normalizeSchema(toJson(schema)) as JsonObject
  if (place === "query") return { name, in: place, required, ...(description && { description }), schema: own }
  if (name === "last-event-id")
    return { name: "Last-Event-ID", in: place, required, description: "As `after`", schema: own }
  return {
    name: "Idempotency-Key",
    in: place,
    required,
    description: "A repeated request with the same key gets the first response",
    schema: own
  }
}

const operation = (path: string, generated: OpenApi.OpenAPISpecOperation): JsonObject => {
  const body = toJson(generated.requestBody?.content["application/json"]?.schema ?? null) as JsonObject | null
  const hasBody =
    body !== null && (body.$ref !== undefined || body.properties !== undefined || body.anyOf !== undefined)
  return {
    operationId: generated.operationId,
    tags: generated.tags,
    summary: generated.summary ?? "",
    description: generated.description ?? "",
    ...(generated.parameters.length === 0
      ? {}
      : { parameters: generated.parameters.map((generatedParameter) => parameter(path, generatedParameter)) }),
    ...(hasBody
      ? { requestBody: { required: true, content: { "application/json": { schema: normalizeSchema(body) } } } }
      : {}),
    responses: Object.fromEntries(
      Object.entries(generated.responses).map(([status, responseNode]) => [status, response(status, responseNode)])
    )
  }
}

const schemas = collectSchemas(spec)

const paths = (): JsonObject =>
  Object.fromEntries(
    Object.entries(spec.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).map(([method, generated]) => [method, operation(path, generated)]))
    ])
  )

const build = (): JsonObject => {
  const referenced = withReferences(schemas, { paths: paths() })
  return {
    openapi: "3.1.0",
    info: {
      title: "Workshop Ticket Service: sandbox",
      version: "1",
      summary: "What the app, the owner, the clients and the clock do, as requests for tests",
      description: introduction,
      license: { name: "MIT", identifier: "MIT" }
    },
    servers: [{ url: "http://127.0.0.1:4010", description: "The address on which `npm start -- --sandbox` serves" }],
    tags: spec.tags as unknown as Json,
    security: [{}, { sandboxToken: [] }],
    paths: referenced.paths,
    components: {
      schemas: referenced.schemas,
      headers: {
        "Request-Id": {
          description: "The id of this request. Include it when you report a problem",
          schema: { type: "string" }
        }
      },
      securitySchemes: {
        sandboxToken: {
          type: "http",
          scheme: "bearer",
          description: "The token with which the server was started (`--sandbox-token`)"
        }
      }
    }
  }
}

/** The OpenAPI 3.1 document of the sandbox, made from its API. It is the same on every machine and in every run. */
export const document: JsonObject = build()
