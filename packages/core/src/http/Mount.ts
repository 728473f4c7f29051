import { Data, Effect, Runtime, Schema } from "effect"
import { type Issue, inputIssues } from "../domain/InvalidInput.js"
import { countedAddress } from "../domain/PublicAddress.js"
import type { StoreUnavailable } from "../ports/StorePorts.js"
import { Caller } from "../services/Caller.js"
import type { WorkshopServices } from "../services/PromiseWorkshop.js"
import type { OwnAuthentication } from "./authentication.js"
import type { HttpRequest, HttpResponse } from "./HttpMessage.js"
import { isBelow, pipeline } from "./Pipeline.js"
import { type TrackingOptions, trackingRoutes } from "./tracking/trackingRoutes.js"
import { httpRequestOf, responseOf } from "./WebHandler.js"
import { workshopRoutes } from "./workshopRoutes.js"

/** On whose behalf a request is made: the fields of a {@link Caller} as plain values. */
export type CallerFields = Omit<typeof Caller.Encoded, "via">

/** The 401 of an API that goes by your own authentication. */
export interface Unauthenticated {
  /** The answer's `error.message`. */
  readonly message: string
  /** The answer's `WWW-Authenticate`, such as `Basic realm="shop"`; none where it is left out. */
  readonly challenge?: string
}

const SIGN_IN: Unauthenticated = { message: "Sign in first" }

/** How the API is mounted inside a server that has routes of its own. `Request` is that server's form of a request. */
export interface MountOptions<Request> {
  /** The path below which the API's `/v1` is, such as `/workshop`; the root where it is left out. */
  readonly prefix?: `/${string}`
  /**
   * Who asks, by your own sessions, in place of API keys: the shop, the scopes, and a UUID of the caller, by which
   * idempotency and limits go. Null or undefined where nobody is signed in, answered 401, as is a shop that there is not;
   * 500 where it throws or answers anything else, and the log says which field is wrong.
   */
  readonly authenticate?: (
    request: Request
  ) => Promise<CallerFields | null | undefined> | CallerFields | null | undefined
  /** The response to a caller whom `authenticate` does not know; `Sign in first` where it is left out. */
  readonly unauthenticated?: Unauthenticated
  /** How many bits of an IPv6 address name its network, which counts as one address; 64 where it is left out. */
  readonly ipv6Prefix?: number
  /**
   * Serves the page of each ticket too, below `/t`, with a template of your own or for one shop alone; `{}` as they are, and not at
   * all where it is left out. `trackingBaseUrl` of the workshop makes `tracking_url` lead there.
   */
  readonly trackingPages?: TrackingOptions
  /** Where a request came from, for the limit on requests without a good key. */
  readonly addressOf?: (request: Request) => string
}

/** The API inside another server. */
export interface Mounted<Request> {
  /** Whether a path is the API's; everything else is the server's own. */
  readonly owns: (path: string) => boolean
  /** Answers a request. Never fails. */
  readonly answer: (request: HttpRequest & { readonly source: Request }) => Effect.Effect<HttpResponse>
}

/** The same in Effect, where the caller was checked by its schema, or made by `Schema.decode(Caller)`. */
export interface MountEffectOptions<Request, R = never>
  extends Omit<MountOptions<Request>, "authenticate" | "addressOf"> {
  readonly authenticate?: (request: Request) => Effect.Effect<Caller | null, StoreUnavailable, R>
}

/** What `authenticate` answered is no caller: a mistake in the embedder's own code, answered 500, of which the log tells. */
class NoCaller extends Data.TaggedError("NoCaller")<{ readonly issues: ReadonlyArray<Issue> }> {
  override get message() {
    const wrong = this.issues.map(({ field, message }) => `${field} ${message}`)
    return `What authenticate answered is neither null nor a caller: ${wrong.join("; ")}`
  }
}

const decodeCaller = Schema.decodeUnknown(Caller, { errors: "all" })

const callerFrom = (fields: CallerFields): Effect.Effect<Caller> =>
  Effect.catchAll(decodeCaller({ ...fields, via: "api" }), ({ issue }) =>
    Effect.die(new NoCaller({ issues: inputIssues(issue) }))
  )

/** Authentication by a promise of plain values. */
const promisedCaller =
  <Request>(ask: NonNullable<MountOptions<Request>["authenticate"]>) =>
  (request: Request): Effect.Effect<Caller | null> =>
    Effect.flatMap(
      Effect.promise(async () => ask(request)),
      (fields) => (fields ? callerFrom(fields) : Effect.succeed(null))
    )

/** Readies the API for a server's own form of requests. */
export const mountEffect = <Request, R = never>({
  prefix,
  authenticate,
  unauthenticated = SIGN_IN,
  ipv6Prefix,
  trackingPages
}: MountEffectOptions<Request, R>) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<R>()
    const own: OwnAuthentication | undefined = authenticate && {
      authenticate: ({ source }) => Effect.provide(authenticate(source as Request), context),
      refusal: { _tag: "NotSignedIn", ...unauthenticated }
    }
    const api = yield* workshopRoutes({ validateResponses: false, ...(own && { own }) })
    const groups = trackingPages === undefined ? [api] : [api, yield* trackingRoutes(trackingPages)]
    const run = yield* pipeline(groups)
    const base = (prefix ?? "").replace(/(?<!\/)\/+$/, "")
    const mount: Mounted<Request> = {
      owns: (path) => groups.some((group) => isBelow(`${base}${group.prefix}`, path)),
      answer: (request) => {
        const isInside = request.path.startsWith(`${base}/`)
        const address = countedAddress(request.address, ipv6Prefix)
        return run({ ...request, address, path: isInside ? request.path.slice(base.length) : "/" })
      }
    }
    return mount
  })

/** Readies the API for a server's own form of requests, on a workshop of the Promise face. */
export const mountPromise = <Request>(
  { runtime }: Mountable,
  { authenticate, ...rest }: MountOptions<Request>
): Mounted<Request> =>
  Runtime.runSync(runtime)(
    mountEffect<Request>({
      ...rest,
      ...(authenticate && { authenticate: promisedCaller(authenticate) })
    })
  )

/** What the mounts take from a workshop; the Promise face has it. */
export interface Mountable {
  readonly runtime: Runtime.Runtime<WorkshopServices>
}

/** The API as a web-standard `fetch`: for Hono, workers, Bun, Deno and whatever else speaks `Request` and `Response`. */
export const mountFetch = (
  workshop: Mountable,
  options: MountOptions<Request> = {}
): ((request: Request) => Promise<Response>) => {
  const { answer } = mountPromise(workshop, options)
  const { addressOf = () => "unknown" } = options
  return async (request) => {
    const received = { ...httpRequestOf(request, addressOf(request)), source: request }
    return responseOf(request, await Runtime.runPromise(workshop.runtime)(answer(received)))
  }
}
