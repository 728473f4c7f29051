import { Context } from "effect"
import { productionAddresses, type WebhookAddressPolicy } from "../domain/WebhookAddress.js"

/**
 * The addresses to which webhooks may be sent: public ones on port 443, unless an embedder provides another policy
 * (Specification, Webhooks).
 */
export class WebhookPolicy extends Context.Reference<WebhookPolicy>()("@workshop/core/WebhookPolicy", {
  defaultValue: (): WebhookAddressPolicy => productionAddresses
}) {}
