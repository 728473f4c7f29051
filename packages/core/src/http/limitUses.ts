import { isUuid } from "../domain/Identifier.js"
import type { LimitUse } from "../domain/LimitWindow.js"
import { countedAddress } from "../domain/PublicAddress.js"
import type { Caller } from "../services/Caller.js"
import type { HttpRequest } from "./HttpMessage.js"

/** The limit of a request without a valid key, by its address. */
export const addressUse = (request: HttpRequest): LimitUse => ({
  policy: "unauthenticated_per_minute",
  subject: countedAddress(request.address),
  time_zone: null
})

/** A limit of a caller. Keys are unique; ids of an embedder's own are so within a shop alone. */
export const callerUse = (
  policy: "requests_per_minute" | "writes_per_minute",
  { caller_id, shop_id }: Caller
): LimitUse => ({
  policy,
  subject: isUuid(caller_id) ? caller_id : `${shop_id} ${caller_id}`,
  time_zone: null
})
