import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ShopView } from "../domain/Shop.js"
import { ClientsApi } from "./ClientsApi.js"
import { FailureBodyOf, SuccessBody } from "./Envelope.js"
import { describeEndpoint } from "./openapi/Annotations.js"
import { TicketsApi } from "./TicketsApi.js"

/** The endpoint that returns the key's shop (Specification, Endpoints). */
export class ShopApi extends HttpApiGroup.make("shop")
  .annotateContext(OpenApi.annotations({ title: "Shop", description: "The shop behind the key" }))
  .add(
    HttpApiEndpoint.get("read", "/shop")
      .addSuccess(SuccessBody(ShopView).annotations({ identifier: "ShopResponse" }))
      .annotateContext(
        describeEndpoint({
          identifier: "getShop",
          summary: "Read the shop behind the key",
          description: "Use this call to test a key and the connection."
        })
      )
  ) {}

/** The failures that any endpoint may have (Specification, Errors). */
export const COMMON_FAILURES = {
  invalid: FailureBodyOf("VALIDATION_ERROR"),
  unauthenticated: FailureBodyOf("UNAUTHENTICATED"),
  forbidden: FailureBodyOf("FORBIDDEN", "SHOP_NOT_APPROVED", "ACCOUNT_DEACTIVATED", "API_DISABLED"),
  tooMany: FailureBodyOf("TOO_MANY_ATTEMPTS"),
  internal: FailureBodyOf("INTERNAL"),
  unavailable: FailureBodyOf("UNAVAILABLE")
} as const

/**
 * The contract: every endpoint of the specification. The server, the client and the OpenAPI document are derived from
 * it.
 */
export class WorkshopApi extends HttpApi.make("workshop")
  .add(ShopApi)
  .add(TicketsApi)
  .add(ClientsApi)
  .prefix("/v1")
  .addError(COMMON_FAILURES.invalid)
  .addError(COMMON_FAILURES.unauthenticated)
  .addError(COMMON_FAILURES.forbidden)
  .addError(COMMON_FAILURES.tooMany)
  .addError(COMMON_FAILURES.internal)
  .addError(COMMON_FAILURES.unavailable) {}
