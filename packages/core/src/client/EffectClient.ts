import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { type ApiFailure, rootOf } from "@workshop/client"
import { Effect, type ParseResult, type Redacted, type Types } from "effect"
import type { ErrorCode } from "../http/ErrorTable.js"
import { WorkshopApi } from "../http/WorkshopApi.js"
import type { CodeOf, EndpointName, EndpointOf, GroupName, ResponseOf } from "./ClientContract.js"

/** The code of a failure response, as the tag of an error: `Effect.catchTag("CONFLICT", …)` (Specification, Errors). */
export type ApiRefusal<C extends ErrorCode> = C extends ErrorCode
  ? Pick<ApiFailure<C>, "message" | "details"> & { readonly _tag: C }
  : never

type Request<G extends GroupName, N extends EndpointName<G>> =
  HttpApiClient.Client.Method<EndpointOf<G, N>, never, never, never> extends (
    request: infer Asked
  ) => Effect.Effect<infer _A, infer _E, infer _R>
    ? Asked
    : never

type Method<G extends GroupName, N extends EndpointName<G>> = (
  request: Omit<Types.Simplify<Request<G, N>>, "withResponse">
) => Effect.Effect<
  ResponseOf<G, N>,
  ApiRefusal<Extract<CodeOf<G, N>, ErrorCode>> | HttpClientError.HttpClientError | ParseResult.ParseError
>

/** The API as effects: inputs have the types of its schemas, and results have `data` and `meta`. */
export type EffectClient = {
  readonly [G in GroupName]: { readonly [N in EndpointName<G>]: Method<G, N> }
}

/** The address of the service, and the key of a shop. */
export interface EffectClientOptions {
  /** The address of the service, with or without `/v1`. */
  readonly baseUrl: string
  /** The shop's API key, redacted so that logs do not contain it. */
  readonly key: Redacted.Redacted<string>
}

interface Envelope {
  readonly success: boolean
  readonly error?: { readonly code: string; readonly message: string; readonly details?: unknown }
}

const isFailure = (error: unknown): error is Required<Envelope> =>
  typeof error === "object" && error !== null && "success" in error && error.success === false

/** Removes the envelope, and turns a failure in it into a tagged error. */
const unwrapResult = (result: Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> =>
  Effect.mapError(result, (error) => {
    if (!isFailure(error)) return error
    const { code, message, details } = error.error
    return { _tag: code, message, details }
  })

/**
 * A client over an `HttpClient` of `@effect/platform`, derived from the contract. It does not retry: use `Effect.retry`
 * where it is safe, with the same idempotency key (Specification, Idempotency).
 */
export const make = (options: EffectClientOptions): Effect.Effect<EffectClient, never, HttpClient.HttpClient> =>
  Effect.map(
    HttpApiClient.make(WorkshopApi, {
      baseUrl: rootOf(options.baseUrl),
      transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(options.key)),
      transformResponse: unwrapResult
    }),
    // At run time the results also have the envelope's `success`, which the type omits.
    (client) => client as unknown as EffectClient
  )
