/**
 * Entry `@workshop/core/openapi`: for programs that serve or process the OpenAPI document of the API. It has functions
 * that build the document, for a server's address or without one.
 *
 * @example
 * ```ts
 * import { documentOf } from "@workshop/core/openapi"
 * ```
 *
 * @packageDocumentation
 */

export type { Json, JsonObject } from "./http/openapi/Json.js"
export { type DocumentOptions, documentOf, withServerAtOrigin } from "./http/openapi/OpenApi.js"
