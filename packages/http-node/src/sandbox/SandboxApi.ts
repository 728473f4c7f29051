import * as HttpApi from "@effect/platform/HttpApi"
import { FailureBodyOf } from "@workshop/core/internal/http"
import { AgendaApi } from "./AgendaApi.js"
import { AppTicketsApi } from "./AppTicketsApi.js"
import { ClockApi } from "./ClockApi.js"
import { FaultsApi } from "./FaultsApi.js"
import { HistoryApi } from "./HistoryApi.js"
import { KeysApi } from "./KeysApi.js"
import { LimitsApi } from "./LimitsApi.js"
import { ReceiverApi } from "./ReceiverApi.js"
import { RequestsApi } from "./RequestsApi.js"
import { SandboxClientsApi } from "./SandboxClientsApi.js"
import { ScenariosApi } from "./ScenariosApi.js"
import { SessionApi } from "./SessionApi.js"
import { ShopsApi } from "./ShopsApi.js"
import { TesterTicketsApi } from "./TesterTicketsApi.js"
import { WebhookApi } from "./WebhookApi.js"

/**
 * The API of the sandbox, with which testers act as the app, the owner, the client and the clock (Specification,
 * Sandbox).
 */
export class SandboxApi extends HttpApi.make("sandbox")
  .add(ClockApi)
  .add(ShopsApi)
  .add(KeysApi)
  .add(WebhookApi)
  .add(SandboxClientsApi)
  .add(AppTicketsApi)
  .add(TesterTicketsApi)
  .add(AgendaApi)
  .add(LimitsApi)
  .add(RequestsApi)
  .add(HistoryApi)
  .add(FaultsApi)
  .add(ReceiverApi)
  .add(SessionApi)
  .add(ScenariosApi)
  .prefix("/sandbox")
  .addError(FailureBodyOf("VALIDATION_ERROR"))
  .addError(FailureBodyOf("UNAUTHENTICATED"))
  .addError(FailureBodyOf("FORBIDDEN"))
  .addError(FailureBodyOf("INTERNAL"))
  .addError(FailureBodyOf("UNAVAILABLE")) {}
