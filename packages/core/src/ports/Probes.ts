import { Context, Effect, Layer, type Scope } from "effect"

/** A cell that this process cannot use for now. */
export interface UnavailableCell {
  /** The cell's name in the directory. */
  readonly name: string
  /**
   * The error and what to do about it, for the operator, without secrets or addresses; absent if waiting may be enough.
   */
  readonly remedy?: string | undefined
}

/** Reports the state of a part of the process to its operator, in addition to the process's counters (Specification, Commands). */
export interface Probe {
  /** Updates gauges. It runs on every scrape, so it must be cheap, and it must report its own failure in the gauge. */
  readonly measure?: Effect.Effect<void>
  /** Why this node should get no requests for now, as a sentence without secrets or addresses; null if it should. */
  readonly complaint?: Effect.Effect<string | null>
  /** The cells that cannot be used. Requests of their shops are refused for now; others are served. */
  readonly unavailable?: Effect.Effect<ReadonlyArray<UnavailableCell>>
}

/** The probes of the process; null by default, and then probes are not collected. */
export class Probes extends Context.Reference<Probes>()("@workshop/core/Probes", {
  defaultValue: (): Set<Probe> | null => null
}) {
  /** Collects the probes of a process that serves its metrics and readiness. Provide it to the store, which adds its probes. */
  static readonly layer: Layer.Layer<Probes> = Layer.sync(Probes, () => new Set<Probe>())
}

/** Adds a probe for as long as the scope is open. */
export const probe = (one: Probe): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Probes, (probes) =>
    probes === null
      ? Effect.void
      : Effect.acquireRelease(
          Effect.sync(() => void probes.add(one)),
          () => Effect.sync(() => void probes.delete(one))
        )
  )

/** The attributes of a span. They never contain a key, a phone number or a text of a ticket. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/**
 * Makes a span around the process's own work. By default it makes none, so untraced work costs nothing, because Effect
 * would create spans even if nobody receives them.
 */
export class Tracing extends Context.Reference<Tracing>()("@workshop/core/Tracing", {
  defaultValue: (): { readonly within: RunInSpan } => ({ within: (_name, _attributes, work) => work })
}) {}

/** Runs work within a span of this name. */
export type RunInSpan = <A, E, R>(
  name: string,
  attributes: SpanAttributes,
  work: Effect.Effect<A, E, R>
) => Effect.Effect<A, E, R>
