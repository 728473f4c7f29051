export type { Json, Node } from "./http/openapi/Json.js"
export { type DocumentOptions, documentOf, served } from "./http/openapi/OpenApi.js"
export { responseSchema, namedSchemas, plain, tidy, withReferences } from "./http/openapi/Schemas.js"
