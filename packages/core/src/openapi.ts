export type { Json, Node } from "./http/openapi/Json.js"
export { type DocumentOptions, documentOf, served } from "./http/openapi/OpenApi.js"
export { namedSchemas, plain, responseSchema, tidy, withReferences } from "./http/openapi/Schemas.js"
