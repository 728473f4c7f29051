export type { Json, Node } from "./http/openapi/Json.js"
export { type DocumentOptions, documentOf, withServerAtOrigin } from "./http/openapi/OpenApi.js"
export { namedSchemas, normalizeSchema, responseSchema, toJson, withReferences } from "./http/openapi/Schemas.js"
