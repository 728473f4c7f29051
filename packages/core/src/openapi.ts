export type { Json, JsonObject } from "./http/openapi/Json.js"
export { type DocumentOptions, documentOf, withServerAtOrigin } from "./http/openapi/OpenApi.js"
