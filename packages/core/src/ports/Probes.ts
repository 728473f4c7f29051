import { Context, Effect, type Scope } from "effect"

/** The state of a part of the process for its operator, besides its counters (Specification, Commands). */
export interface Probe {
  /** Brings gauges up to date; it runs on every look, so it is cheap, and it reports its own failure in the gauge. */
  readonly measure?: Effect.Effect<void>
  /** Why requests should go elsewhere for now, in a sentence without secrets or addresses; null where nothing is wrong. */
  readonly complaint?: Effect.Effect<string | null>
  /** The names of cells that do not answer, whose shops are refused for now; requests of other shops are served. */
  readonly away?: Effect.Effect<ReadonlyArray<string>>
}

/** The probes of the process; null, as it is unless provided, where nobody looks. */
export class Probes extends Context.Reference<Probes>()("@workshop/core/Probes", {
  defaultValue: (): Set<Probe> | null => null
}) {}

/** Lets the operator see something for as long as the scope lasts. */
export const probe = (one: Probe): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Probes, (probes) =>
    probes === null
      ? Effect.void
      : Effect.acquireRelease(
          Effect.sync(() => void probes.add(one)),
          () => Effect.sync(() => void probes.delete(one))
        )
  )

/** The attributes of a span; never a key, a phone number or a text of a ticket. */
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
