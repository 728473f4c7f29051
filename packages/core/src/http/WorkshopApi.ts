import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { ShopView } from "../domain/Shop.js"
import { ClientsApi } from "./ClientsApi.js"
import { Answer, FailureAnswer } from "./Envelope.js"
import { TicketsApi } from "./TicketsApi.js"

/** The shop behind the key (spec §4). */
export class ShopApi extends HttpApiGroup.make("shop").add(
  HttpApiEndpoint.get("read", "/shop").addSuccess(Answer(ShopView))
) {}

/** The contract: every endpoint of the specification, from which the server, the client and the OpenAPI document come. */
export class WorkshopApi extends HttpApi.make("workshop")
  .add(ShopApi)
  .add(TicketsApi)
  .add(ClientsApi)
  .prefix("/v1")
  .addError(FailureAnswer("VALIDATION_ERROR"))
  .addError(FailureAnswer("UNAUTHENTICATED"))
  .addError(FailureAnswer("FORBIDDEN", "SHOP_NOT_APPROVED", "ACCOUNT_DEACTIVATED", "API_DISABLED"))
  .addError(FailureAnswer("TOO_MANY_ATTEMPTS"))
  .addError(FailureAnswer("INTERNAL"))
  .addError(FailureAnswer("UNAVAILABLE")) {}
