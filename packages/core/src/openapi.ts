/** Entry `@workshop/core/openapi`: the OpenAPI document of the API. */

export { answerSchema, namedSchemas, plain, withReferences } from "./http/openapi/Assembly.js"
export type { Json, Node } from "./http/openapi/Json.js"
export { type DocumentOptions, documentOf, served } from "./http/openapi/OpenApi.js"
export { tidy } from "./http/openapi/Schemas.js"
