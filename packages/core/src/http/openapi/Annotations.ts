import * as OpenApi from "@effect/platform/OpenApi"
import { Context } from "effect"
import type { PolicyName } from "../../domain/Limits.js"
import type { RefusalName } from "./Refusals.js"

/** The refusals of an endpoint in addition to those of every endpoint, so that the document can list each of them. */
export class MayRefuse extends Context.Tag("@workshop/core/http/MayRefuse")<
  MayRefuse,
  {
    readonly refusals: ReadonlyArray<RefusalName>
    /**
     * The limits that the command itself counts; the endpoint declares the limits that are counted before the command.
     */
    readonly limits: ReadonlyArray<PolicyName>
  }
>() {}

/** The annotations of an endpoint: its summary, its description and its refusals. */
export const describeEndpoint = ({
  refusals = [],
  limits = [],
  ...words
}: {
  /** The operation's name for generated clients. */
  readonly identifier: string
  readonly summary: string
  readonly description: string
  readonly refusals?: ReadonlyArray<RefusalName>
  readonly limits?: ReadonlyArray<PolicyName>
}): Context.Context<never> =>
  Context.merge(OpenApi.annotations(words), Context.make(MayRefuse, { refusals, limits })) as Context.Context<never>
