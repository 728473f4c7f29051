import { Context, type Effect } from "effect"

/** What a span says of its work; never a key, a phone number or a text of a ticket. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/**
 * Puts a span around a piece of the process's own work. It does nothing unless provided, so that work which nobody
 * traces costs nothing: a span of Effect's is made whether or not anybody receives it.
 */
export class Tracing extends Context.Reference<Tracing>()("@workshop/core/Tracing", {
  defaultValue: (): { readonly within: Within } => ({ within: (_name, _attributes, work) => work })
}) {}

/** Runs work within a span of a name. */
export type Within = <A, E, R>(
  name: string,
  attributes: SpanAttributes,
  work: Effect.Effect<A, E, R>
) => Effect.Effect<A, E, R>
