import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as OpenApi from "@effect/platform/OpenApi"
import { Context, Option } from "effect"
import { type Scope, scopeGrants } from "../../domain/ApiKey.js"
import type { PolicyName } from "../../domain/Limits.js"
import { requireOptions } from "../../domain/OptionChecks.js"
import { SIGNATURE_HEADER } from "../../domain/Signature.js"
import { checkSignatureHeader } from "../../ports/WebhookSender.js"
import { CountedPolicies, RequiredScope } from "../Endpoint.js"
import { errorCodes } from "../ErrorTable.js"
import { WorkshopApi } from "../WorkshopApi.js"
import { MayRefuse } from "./Annotations.js"
import { examples } from "./Examples.js"
import type { Json, JsonObject } from "./Json.js"
import { headers, headersOf, parameters } from "./Parameters.js"
import {
  type ErrorExample,
  issuesExample,
  limitExample,
  type RefusalName,
  refusalExample,
  scopeExample
} from "./Refusals.js"
import { collectSchemas, normalizeSchema, toJson, toResponseSchema, withReferences } from "./Schemas.js"
import { introduction, webhooksTag } from "./Text.js"
import { anyEvent, eventSchemas, makeWebhooks } from "./Webhooks.js"

/** The parts of an endpoint's contract other than its schemas. */
interface Rules {
  readonly id: string
  readonly method: string
  readonly scope: Scope | undefined
  readonly refusals: ReadonlyArray<RefusalName>
  readonly limits: ReadonlyArray<PolicyName>
}

const rulesByOperation = (): ReadonlyMap<string, Rules> => {
  const rules = new Map<string, Rules>()
  HttpApi.reflect(WorkshopApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: reflected, mergedAnnotations: annotations }) => {
      const { method } = reflected as unknown as HttpApiEndpoint.HttpApiEndpoint.AnyWithProps
      const id = Context.getOption(annotations, OpenApi.Identifier).pipe(Option.getOrThrow)
      const { refusals, limits } = Context.getOption(annotations, MayRefuse).pipe(Option.getOrThrow)
      const countedPolicies = Context.getOption(annotations, CountedPolicies).pipe(
        Option.getOrElse((): ReadonlyArray<PolicyName> => [])
      )
      rules.set(id, {
        id,
        method,
        scope: Context.getOption(annotations, RequiredScope).pipe(Option.getOrUndefined),
        refusals,
        limits: [
          "unauthenticated_per_minute",
          "requests_per_minute",
          ...(method === "POST" ? (["writes_per_minute"] as const) : []),
          ...countedPolicies,
          ...limits
        ]
      })
    }
  })
  return rules
}

const COMMON_REFUSALS: ReadonlyArray<RefusalName> = [
  "unauthenticated",
  "account_deactivated",
  "shop_not_approved",
  "api_disabled",
  "store_unavailable"
]

/** Each way in which an operation may fail with a status, by its code or reason. */
const failuresOf = ({ id, scope, refusals, limits }: Rules, status: number): Record<string, ErrorExample> => {
  const namedExamples = [...COMMON_REFUSALS, ...refusals].map((name) => [name, refusalExample(name)] as const)
  const namesAndExamples: ReadonlyArray<readonly [string, ErrorExample]> = [
    [`invalid_${id}`, issuesExample(examples[id]?.issues ?? [])],
    ...(scope === undefined ? [] : [[`scope_missing_${scope.replace(":", "_")}`, scopeExample(scope)] as const]),
    ...namedExamples,
    ...(refusals.some((name) => name.endsWith("_not_found"))
      ? [["unknown_route", refusalExample("unknown_route")] as const]
      : []),
    ...limits.map((policy) => [policy, limitExample(policy)] as const),
    [
      "internal",
      {
        summary: "An error of the service",
        value: {
          success: false,
          error: { code: "INTERNAL", message: "The service failed. Report this request id: 9f2c6a1be07d4358c1aa20e4." }
        }
      }
    ]
  ]
  return Object.fromEntries(namesAndExamples.filter(([, { value }]) => errorCodes[value.error.code].status === status))
}

const failureStatuses = [...new Set(Object.values(errorCodes).map(({ status }) => status))]

/** The error examples of all operations, each once, because many operations share one. */
const collectExamples = (rules: Iterable<Rules>): JsonObject =>
  toJson(
    Object.assign(
      {},
      ...[...rules].flatMap((refusalName) => failureStatuses.map((status) => failuresOf(refusalName, status)))
    )
  ) as JsonObject

const makeReferences = (names: ReadonlyArray<string>) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${name}` }]))

const SUCCESS: Readonly<Record<number, string>> = { 200: "The result", 201: "Created" }

const makeResponse = (
  rules: Rules,
  status: number,
  declared: OpenApi.OpenApiSpecResponse,
  isRepeatable: boolean
): JsonObject => {
  const cases = failuresOf(rules, status)
  const shown: Readonly<Record<string, unknown>> =
    status < 400 ? (examples[rules.id]?.responses[status] ?? {}) : makeReferences(Object.keys(cases))
  const schema = declared.content?.["application/json"]?.schema
  const isReplay = status === 200 && rules.id === "createTicket"
  const words = isReplay ? "The first response again, because the request was repeated" : SUCCESS[status]
  return toJson({
    description:
      words ??
      Object.values(cases)
        .map(({ summary }) => summary)
        .join(". "),
    headers: headersOf(status, isRepeatable),
    content: { "application/json": { schema: toResponseSchema(schema), examples: shown } }
  }) as JsonObject
}

const makeParameter = (
  tag: string,
  { name, in: place, required, schema }: OpenApi.OpenAPISpecParameter
): JsonObject => {
  const entry = parameters[`${tag}.${name}`] ?? parameters[name]
  if (entry === undefined) throw new Error(`Parameters.ts has no description of ${name}`)
  const { description: _, examples: __, ...own } = normalizeSchema(toJson(schema)) as JsonObject
  return toJson({ name, in: place, required, ...entry, schema: entry.schema ?? own }) as JsonObject
}

const makeOperation = (rules: Rules, generated: OpenApi.OpenAPISpecOperation): JsonObject => {
  const { scope, id } = rules
  const scopeText =
    scope === undefined
      ? "Any API key is accepted."
      : `Requires the scope \`${scope}\` (${scopeGrants[scope].toLowerCase()}).`
  const isRepeatable = generated.parameters.some(({ name }) => name === "idempotency-key")
  const body = generated.requestBody
  return {
    operationId: id,
    tags: generated.tags,
    summary: generated.summary ?? "",
    description: `${generated.description}\n\n${scopeText}`,
    security: [{ apiKey: scope === undefined ? [] : [scope] }],
    ...(generated.parameters.length === 0
      ? {}
      : { parameters: generated.parameters.map((parameter) => makeParameter(generated.tags[0], parameter)) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: toJson({
            required: id !== "redeemReward",
            content: {
              "application/json": {
                schema: normalizeSchema(toJson(body.content["application/json"]?.schema)),
                examples: examples[id]?.requests
              }
            }
          })
        }),
    responses: Object.fromEntries(
      Object.entries(generated.responses).map(([status, responseNode]) => [
        status,
        makeResponse(rules, Number(status), responseNode, isRepeatable)
      ])
    )
  }
}

const makePaths = (spec: OpenApi.OpenAPISpec, rules: ReadonlyMap<string, Rules>): JsonObject => {
  const makePathItem = (methods: OpenApi.OpenAPISpecPathItem): JsonObject =>
    Object.fromEntries(
      Object.entries(methods).map(([method, generated]) => [
        method,
        makeOperation(rules.get(generated.operationId)!, generated)
      ])
    )
  return Object.fromEntries(Object.entries(spec.paths).map(([path, methods]) => [path, makePathItem(methods)]))
}

const makeServers = (url: string, description: string): Json => [{ url, description }]

const buildDocument = (): JsonObject => {
  const spec = OpenApi.fromApi(WorkshopApi)
  const rules = rulesByOperation()
  const parts = { paths: makePaths(spec, rules), webhooks: toJson(makeWebhooks(SIGNATURE_HEADER)) as JsonObject }
  const namedSchemas = collectSchemas(spec, eventSchemas, { Event: toJson(anyEvent) })
  const { schemas, ...referred } = withReferences(namedSchemas, parts)
  return {
    openapi: "3.1.0",
    info: {
      title: "Workshop Ticket Service",
      version: "1",
      summary: "A shop's tickets, its clients' loyalty cards, and signed events",
      description: introduction,
      license: { name: "MIT", identifier: "MIT" }
    },
    servers: makeServers("http://127.0.0.1:4010", "The address on which `npm start` serves"),
    tags: [...(toJson(spec.tags) as ReadonlyArray<Json>), webhooksTag],
    ...referred,
    components: {
      schemas,
      examples: collectExamples(rules.values()),
      headers: toJson(headers),
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: `A key of the shop: \`wk_live_…\`, or \`wk_test_…\` in a sandbox. The key's scopes decide what it may do. ${Object.entries(
            scopeGrants
          )
            .map(([scope, grants]) => `\`${scope}\`: ${grants.toLowerCase()}`)
            .join("; ")}`
        }
      }
    }
  }
}

/**
 * The OpenAPI 3.1 document of the service, made from its contract. It is the same on every machine and at every time.
 */
export const document: JsonObject = buildDocument()

/** The parts of the document that an operator chooses. */
export interface DocumentOptions {
  /** The header that carries the signature of a webhook (Specification, Webhooks), as configured in the dispatcher; `Service-Signature` if it is omitted. */
  readonly signatureHeader?: string
}

/** The document of a service that runs with these options. */
export const documentOf = (options: DocumentOptions): JsonObject => {
  const { signatureHeader = SIGNATURE_HEADER } = requireOptions("documentOf", options, {
    signatureHeader: checkSignatureHeader
  })
  return { ...document, webhooks: toJson(makeWebhooks(signatureHeader)) }
}

/** The document that a server serves, in which the API's address is the origin of the document. */
export const withServerAtOrigin = (document: JsonObject): JsonObject => ({
  ...document,
  servers: makeServers("/", "This server")
})
