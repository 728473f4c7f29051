import * as OpenApi from "@effect/platform/OpenApi"
import { Context } from "effect"
import type { PolicyName } from "../../domain/Limits.js"
import type { RefusalName } from "./Refusals.js"

/** The refusals of an endpoint besides those that every endpoint has: so the document can show each case by itself. */
export class MayRefuse extends Context.Tag("@workshop/core/http/MayRefuse")<
  MayRefuse,
  {
    readonly refusals: ReadonlyArray<RefusalName>
    /** Limits that the command itself counts against; those of admission are known from the endpoint. */
    readonly limits: ReadonlyArray<PolicyName>
  }
>() {}

/** An endpoint in a person's words, and the ways in which it may end without its result. */
export const described = ({
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
