import { Actor, CachedRateLimits, type StoreUnavailable, type WebhookAddressPolicy } from "@workshop/core"
import type { HttpRequest, RouteGroup } from "@workshop/core/http"
import { addressUseOf } from "@workshop/core/internal"
import {
  Checks,
  compileRoutes,
  makeBodyCheck,
  makeEndpointHandler,
  makeHeadCheck,
  makeRefusalCheck,
  makeRouteCheck,
  makeRouter,
  makeValidationCheck,
  runChecks
} from "@workshop/core/internal/http"
import type { JsonObject } from "@workshop/core/openapi"
import { Directory } from "@workshop/core/store"
import { Effect, Option } from "effect"
import { runOnce } from "../coalesce.js"
import { agendaHandlers, makeAgenda } from "./AgendaApi.js"
import { appTicketsHandlers } from "./AppTicketsApi.js"
import { clockHandlers } from "./ClockApi.js"
import { consolePages } from "./consolePages.js"
import { faultsHandlers } from "./FaultsApi.js"
import { processStart } from "./Feed.js"
import { foreignRefusal } from "./foreignRequest.js"
import { historyHandlers } from "./HistoryApi.js"
import { keysHandlers } from "./KeysApi.js"
import { limitsHandlers, shopLimits } from "./LimitsApi.js"
import { observeSandbox } from "./Observation.js"
import { receiverHandlers } from "./ReceiverApi.js"
import { Receivers, SandboxReceivers } from "./Receivers.js"
import { requestsHandlers } from "./RequestsApi.js"
import { SandboxApi } from "./SandboxApi.js"
import { clientsHandlers } from "./SandboxClientsApi.js"
import { type ScenarioRunner, scenariosHandlers } from "./ScenariosApi.js"
import { sessionHandlers } from "./SessionApi.js"
import { shopsHandlers } from "./ShopsApi.js"
import { testerTicketsHandlers } from "./TesterTicketsApi.js"
import { tokenCheck } from "./tokenGuard.js"
import { webhookHandlers } from "./WebhookApi.js"

/** The options of the sandbox's routes. */
export interface SandboxOptions {
  /**
   * The bearer token that every request must have, of at least 32 characters. If it is null or empty, requests need no
   * token.
   */
  readonly token: string | null
  /** The policy for webhook URLs: `sandboxAddresses` of core, unless other ports are allowed. */
  readonly webhookPolicy: WebhookAddressPolicy
  /** Whether to check every response against its schema, in tests. */
  readonly validateResponses: boolean
  /** The API whose requests the sandbox logs and to which it applies the faults. */
  readonly api: RouteGroup
  /** Runs after a reset, to create the first shop again; nothing by default. */
  readonly begin?: Effect.Effect<void, StoreUnavailable>
  /** Runs the text of a scenario in its own sandbox; without it, `/sandbox/scenarios/run` is a 404. */
  readonly runScenario?: ScenarioRunner
}

/**
 * The OpenAPI 3.1 document of the sandbox. It is loaded on demand, because building it takes longer than the rest of a start.
 */
export const sandboxDocument = async (): Promise<JsonObject> => (await import("./openapi/SandboxDocument.js")).document

const isDocument = ({ method, path }: HttpRequest): boolean =>
  (method === "GET" || method === "HEAD") && path === "/sandbox/openapi.json"

const senderCheck = makeRefusalCheck(
  "sender",
  "403 of a request that did not come straight from this machine",
  ({ request }) => {
    const originRefusal = foreignRefusal(request)
    return originRefusal && { _tag: originRefusal }
  }
)

/** Marks an empty store as created by a sandbox, so that a reset may remove its data. */
const claimEmptyStore = Effect.flatMap(Directory, ({ hasShops, markSandboxMade }) =>
  Effect.flatMap(hasShops, (isThere) => (isThere ? Effect.void : markSandboxMade))
)

/**
 * The routes of the sandbox under `/sandbox`, with which testers act as the app, the owner, the client and the clock
 * (Specification, Sandbox). The first group is the API, whose requests are logged, and the last groups are the console.
 * Requests to the sandbox count against no limit, except requests with a wrong token. The limits on tickets apply.
 */
export const sandboxRoutes = (options: SandboxOptions) =>
  Effect.gen(function* () {
    const { token, webhookPolicy, validateResponses, api, begin = Effect.void, runScenario } = options
    yield* claimEmptyStore
    const limits = yield* CachedRateLimits
    const access = Checks.from([makeHeadCheck(), (yield* tokenCheck(token, limits)) ?? senderCheck])
    const { feed, faults, log } = yield* observeSandbox
    const started_at = yield* processStart
    const receivers = Option.getOrElse(yield* Effect.serviceOption(SandboxReceivers), () => new Receivers(started_at))
    const gauges = yield* shopLimits(() => log.lastUnauthenticatedAddress)
    const agenda = yield* makeAgenda(gauges)
    const handlers = {
      shops: yield* shopsHandlers,
      keys: yield* keysHandlers,
      webhook: yield* webhookHandlers(webhookPolicy, receivers),
      clock: yield* clockHandlers(agenda, feed),
      clients: yield* clientsHandlers,
      appTickets: yield* appTicketsHandlers,
      tickets: yield* testerTicketsHandlers,
      agenda: agendaHandlers(agenda),
      limits: limitsHandlers(gauges),
      requests: yield* requestsHandlers(log, feed),
      history: yield* historyHandlers(log),
      faults: faultsHandlers(faults, feed),
      receiver: yield* receiverHandlers(receivers, webhookPolicy, feed),
      session: yield* sessionHandlers({ log, feed, faults, receivers, begin }),
      scenarios: scenariosHandlers(runScenario)
    }
    const sandboxGroup = compileRoutes<void>()(SandboxApi, handlers)
    // The document is loaded and serialized at the first request, so that it does not delay the start.
    const document = runOnce(
      Effect.promise(async () => {
        const [{ withServerAtOrigin }, document] = await Promise.all([
          import("@workshop/core/openapi"),
          sandboxDocument()
        ])
        return { body: JSON.stringify(withServerAtOrigin(document)) }
      })
    )

    const showDocument = runChecks(
      access.handle({ name: "document", refuses: "nothing", handle: () => document }),
      limits
    )
    const handleRequest = runChecks(
      access
        .check(makeRouteCheck())
        .check(makeBodyCheck())
        .check(makeValidationCheck())
        .handle(makeEndpointHandler({ handlers: sandboxGroup, callerOf: () => undefined, validateResponses })),
      limits
    )

    const group: RouteGroup = {
      prefix: "/sandbox",
      find: makeRouter(sandboxGroup.keys()),
      handle: (request, context, match) => {
        const respond = isDocument(request) ? showDocument : handleRequest
        const limitStatuses = [limits.peek(addressUseOf(request), context.now)]
        return Effect.provideService(respond(request, { ...context, limitStatuses }, match), Actor, "sandbox")
      }
    }
    return [log.watch(api), group, ...(yield* consolePages)]
  })
