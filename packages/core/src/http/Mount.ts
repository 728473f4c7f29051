import { Data, Effect, Runtime, Schema } from "effect"
import { type Issue, inputIssues } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import {
  type Complaint,
  isObject,
  mustBeFunction,
  mustBeText,
  mustHaveFields,
  OptionRefused
} from "../domain/OptionChecks.js"
import { toCountedAddress } from "../domain/PublicAddress.js"
import { StoreUnavailable } from "../ports/StorePorts.js"
import { Caller } from "../services/Caller.js"
import type { PlainCaller } from "../services/promise/PlainInputs.js"
import type { WorkshopServices } from "../services/promise/PromiseWorkshop.js"
import { withoutUndefined } from "../services/promise/toPromise.js"
import { isStopped, WorkshopStopped } from "../services/WorkshopStopped.js"
import type { OwnAuthentication } from "./authentication.js"
import type { HttpRequest } from "./HttpMessage.js"
import { isBelow, newContext, pipeline, type RequestObserver } from "./Pipeline.js"
import { type ObservedResponse, respond } from "./respond.js"
import { type TrackingOptions, trackingRoutes } from "./tracking/trackingRoutes.js"
import { workshopRoutes } from "./workshopRoutes.js"

/**
 * The caller of a request: the fields of a {@link Caller} as plain values. A given `via` is ignored, because it is
 * always the API.
 */
export type CallerFields = Omit<PlainCaller, "via">

/** The 401 of an API that uses your own authentication. */
export interface Unauthenticated {
  /** The response's `error.message`. */
  readonly message: string
  /** The response's `WWW-Authenticate`, such as `Basic realm="shop"`; by default it has none. */
  readonly challenge?: string
}

const SIGN_IN: Unauthenticated = { message: "You are not signed in. Sign in first." }

/**
 * The options with which the API is mounted inside a server that has routes of its own. `Request` is that server's type
 * of a request, and `Context` the values that you pass to the mount's handler after it, such as Hono's `c` or a
 * worker's `env`.
 */
export interface MountOptions<Request, Context extends ReadonlyArray<unknown> = []> {
  /** The path before the API's `/v1`, such as `/workshop`; empty by default. */
  readonly prefix?: `/${string}`
  /**
   * Finds the caller by your own sessions, in place of API keys. Returns the shop, the scopes, and an id of the caller,
   * any text of up to 80 characters, for which idempotency keys and limits are counted. Null, undefined, or an unknown
   * shop gives a 401. If it throws or returns anything else, such as a caller with an unknown field, the response is a
   * 500, and the log names the wrong field.
   */
  readonly authenticate?: (
    request: Request,
    ...context: Context
  ) => Promise<CallerFields | null | undefined> | CallerFields | null | undefined
  /** The response if `authenticate` finds no caller, by default with the message `You are not signed in. Sign in first.` */
  readonly unauthenticated?: Unauthenticated
  /** The number of bits of an IPv6 address that are its network, which counts as one address; 64 by default. */
  readonly ipv6Prefix?: number
  /**
   * Also serves the page of each ticket below `/t`, optionally with your own template or only for one shop; `{}` serves
   * the default pages. By default there are no pages. Set `trackingBaseUrl` of the workshop to their address, so that
   * `tracking_url` leads there.
   */
  readonly trackingPages?: TrackingOptions
  /** Observes each request to the API, such as `makeHttpMetrics()` of `@workshop/http-node`, which counts them for the metrics. */
  readonly observe?: RequestObserver
  /** The address of a request, for the limit on requests without a valid key. */
  readonly addressOf?: (request: Request, ...context: Context) => string
}

/** A request of the embedder's server, with the further arguments of the call. */
interface ReceivedRequest<Request> {
  readonly request: Request
  readonly context: ReadonlyArray<unknown>
}

/** The API inside another server. */
export interface MountedApi<Request> {
  /** Returns whether a path belongs to the API. All other paths belong to the server. */
  readonly owns: (path: string) => boolean
  /** Handles a request. It never fails. */
  readonly handle: (request: HttpRequest & { readonly source: Request }) => Effect.Effect<ObservedResponse>
}

/** {@link MountOptions} for Effect, whose `authenticate` returns a {@link Caller} that its schema has checked. */
export interface MountEffectOptions<Request, R = never>
  extends Omit<MountOptions<Request>, "authenticate" | "addressOf"> {
  /** Finds the caller of a request; null refuses it as `unauthenticated` says. Without it, API keys are required. */
  readonly authenticate?: (request: Request) => Effect.Effect<Caller | null, StoreUnavailable, R>
}

/** `authenticate` returned a value that is not a caller: a bug in the embedder's code, which is logged and gives a 500. */
class InvalidCaller extends Data.TaggedError("InvalidCaller")<{ readonly issues: ReadonlyArray<Issue> }> {
  override get message() {
    const wrongFields = this.issues.map(({ field, message }) => `${field} ${message}`)
    return `authenticate returned neither null nor a caller: ${wrongFields.join("; ")}`
  }
}

// Unknown fields are errors, as in the services, so that a misspelt field does not go unnoticed.
const decodeCaller = Schema.decodeUnknown(Caller, { errors: "all", onExcessProperty: "error" })

const callerFrom = (fields: CallerFields): Effect.Effect<Caller> =>
  Effect.catchAll(decodeCaller(withoutUndefined({ ...(isObject(fields) ? fields : {}), via: "api" })), ({ issue }) =>
    Effect.die(new InvalidCaller({ issues: inputIssues(issue).slice(0, Limits.issues_max) }))
  )

/**
 * Authentication by a function that returns plain values or a promise of them. If it rejects with `StoreUnavailable`,
 * as `withClient` does while the database is unreachable, the response is a 503; any other rejection is a bug in that
 * function.
 */
const callerFromPromise =
  <Request, Context extends ReadonlyArray<unknown>>(
    authenticate: NonNullable<MountOptions<Request, Context>["authenticate"]>
  ) =>
  ({ request, context }: ReceivedRequest<Request>): Effect.Effect<Caller | null, StoreUnavailable> =>
    Effect.tryPromise({
      try: async () => authenticate(request, ...(context as Context)),
      catch: (error) => error
    }).pipe(
      Effect.catchAll((error) => (error instanceof StoreUnavailable ? Effect.fail(error) : Effect.die(error))),
      Effect.flatMap((fields) => (fields ? callerFrom(fields) : Effect.succeed(null)))
    )

/** The check of each option that all mounts have. */
export const mountOptions: Readonly<Record<keyof MountEffectOptions<unknown>, (value: unknown) => Complaint>> = {
  prefix: (value) =>
    typeof value === "string" && /^(\/|$)/.test(value)
      ? undefined
      : "must be a path that begins with /, such as /workshop",
  authenticate: mustBeFunction,
  unauthenticated: mustHaveFields({ message: mustBeText, challenge: mustBeText }),
  ipv6Prefix: (value) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 128
      ? undefined
      : "must be a whole number from 1 to 128",
  trackingPages: mustHaveFields({ template: mustBeFunction, shopId: mustBeText }),
  observe: mustBeFunction
}

/** Mounts the API in a server. `authenticate` receives the server's own request. */
export const mountEffect = <Request, R = never>({
  prefix,
  authenticate,
  unauthenticated = SIGN_IN,
  ipv6Prefix,
  trackingPages,
  observe
}: MountEffectOptions<Request, R>) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<R>()
    const own: OwnAuthentication | undefined = authenticate && {
      authenticate: ({ source }) => Effect.provide(authenticate(source as Request), context),
      refusal: { _tag: "NotSignedIn", ...unauthenticated }
    }
    const api = yield* workshopRoutes({ validateResponses: false, ...(own && { own }) })
    const groups = trackingPages === undefined ? [api] : [api, yield* trackingRoutes(trackingPages)]
    const run = yield* pipeline(groups, observe)
    const base = (prefix ?? "").replace(/(?<!\/)\/+$/, "")
    const mount: MountedApi<Request> = {
      owns: (path) => groups.some((group) => isBelow(`${base}${group.prefix}`, path)),
      handle: (request) => {
        const isInside = request.path.startsWith(`${base}/`)
        const address = toCountedAddress(request.address, ipv6Prefix)
        return run({ ...request, address, path: isInside ? request.path.slice(base.length) : "/" })
      }
    }
    return mount
  })

const NO_WORKSHOP = "A mount needs a workshop, not the promise that start returns. Await start, and pass its result."

/** Mounts a workshop of the Promise API in a server. `authenticate` receives the server's own request. */
export const mountPromise = <Request, Context extends ReadonlyArray<unknown>>(
  workshop: Mountable,
  { authenticate, ...rest }: Omit<MountOptions<Request, Context>, "addressOf">
): MountedApi<ReceivedRequest<Request>> => {
  if (!isObject(workshop) || !isObject(workshop.runtime))
    throw new OptionRefused({ option: "workshop", message: NO_WORKSHOP })
  const { runtime } = workshop
  const mounted = Runtime.runSync(runtime)(
    mountEffect<ReceivedRequest<Request>>({
      ...rest,
      ...(authenticate && { authenticate: callerFromPromise(authenticate) })
    })
  )
  const refuseStopped = Effect.map(Effect.provide(newContext, runtime), (context) =>
    respond(new WorkshopStopped(), context)
  )
  return { ...mounted, handle: (request) => (isStopped(runtime) ? refuseStopped : mounted.handle(request)) }
}

/** The part of a Promise API workshop that a mount needs. */
export interface Mountable {
  /** The runtime of the workshop, in which the requests run. */
  readonly runtime: Runtime.Runtime<WorkshopServices>
}
