import { Either } from "effect"
import type { AuditEntry } from "../domain/AuditEntry.js"
import type { ShopId } from "../domain/Identifier.js"
import type { LimitStatus } from "../domain/LimitWindow.js"
import { LAST_IDENTIFIER, type Moment, makeIdentifier, type ShopMoment } from "../domain/Moment.js"
import type { ChangeAuthor } from "../domain/TicketChange.js"
import { ChangeSet, type Decision, type ShopSnapshot } from "./ChangeSet.js"
import type { Load, LoadRequest } from "./Load.js"
import { apply, type ShopState } from "./ShopState.js"

/**
 * A write to one shop: the rows to load, and the decision on them. Stores run commands, and no other code writes a
 * shop's data.
 */
export interface Command<out A, out E = never> {
  /** The only shop whose data the command reads and changes. */
  readonly shop_id: ShopId
  /** The rows to load before `run`, in addition to the shop's settings. */
  readonly loadRequests: ReadonlyArray<LoadRequest>
  /** Decides on the loaded rows. It is a pure function, because a store may run it again after a conflict. */
  readonly run: (state: ShopState, moment: ShopMoment) => Either.Either<Decision<A>, E>
}

/** A command's result, with the statuses of the limits that it used. */
export interface Outcome<out A> {
  /** The result of the decision that was committed. */
  readonly result: A
  /** The limits that the command used, for the headers of the response. */
  readonly limitStatuses: ReadonlyArray<LimitStatus>
}

type LoadResults<N> = { readonly [K in keyof N]: N[K] extends Load<infer L, unknown> ? L : never } & ShopSnapshot
type MissingRow<N> = { [K in keyof N]: N[K] extends Load<unknown, infer E> ? E : never }[keyof N]
type Loads = Readonly<Record<string, Load<unknown, unknown>>>
type ResultOf<R> = R extends Either.Right<infer _, infer D> ? (D extends Decision<infer A> ? A : never) : never
type RefusalOf<R> = R extends Either.Left<infer E, infer _> ? E : never

/**
 * Makes a command from `loads` and a pure `decision`, which gets the loaded rows, each under its name in `loads`, and a
 * change set to add its changes to. If a row is missing, the command fails with the refusal of that row's `Load`, and
 * `decision` is not called.
 */
export const makeCommand = <const N extends Loads, R extends Either.Either<Decision<unknown>, unknown>>(
  shop_id: ShopId,
  loads: N,
  decision: (loaded: LoadResults<N>, changes: ChangeSet, moment: ShopMoment) => R
): Command<ResultOf<R>, RefusalOf<R> | MissingRow<N>> => {
  const namedLoads = Object.entries(loads)
  return {
    shop_id,
    loadRequests: namedLoads.flatMap(([, load]) => load.loadRequests),
    run: (state, moment) => {
      const loaded: Record<string, unknown> & ShopSnapshot = {
        shop: state.shop,
        head: state.head,
        webhook: state.webhook
      }
      for (const [name, load] of namedLoads) {
        const row = load.read(state)
        if (Either.isLeft(row)) return Either.left(row.left as MissingRow<N>)
        loaded[name] = row.right
      }
      const changes = new ChangeSet(loaded, moment)
      return decision(loaded as LoadResults<N>, changes, moment) as Either.Either<Decision<ResultOf<R>>, RefusalOf<R>>
    }
  }
}

/**
 * Decides a command on its shop's data without changing the data. The recorded instants are never earlier than the
 * shop's latest command, so the order by time is the order of commits (Specification, Lists and sync). Scheduled times
 * follow the clock.
 */
export const decide = <A, E>(command: Command<A, E>, state: ShopState, moment: Moment): Either.Either<Decision<A>, E> =>
  // `recorded_at` comes before the spread, because V8 takes 0.5 µs longer to add a new field after one.
  command.run(state, { recorded_at: Math.max(moment.now, state.head.last_recorded_at), ...moment })

/** Decides a command and applies its changes to the state. A refusal changes nothing. */
export const execute = <A, E>(
  command: Command<A, E>,
  state: ShopState,
  moment: Moment
): Either.Either<Decision<A>, E> => {
  const decision = decide(command, state, moment)
  if (Either.isRight(decision)) for (const change of decision.right.changes) apply(state, change)
  return decision
}

/** The command with its author, for the histories of the tickets that it changes. */
export const withAuthor = <A, E>(author: ChangeAuthor, command: Command<A, E>): Command<A, E> => ({
  ...command,
  // `author` comes before the spread for the same reason as `recorded_at` in `decide`. A store's moment has no author.
  run: (state, moment) => command.run(state, { author, ...moment })
})

/** The fields of an audit entry that depend on the act. */
export type AuditedAct = Pick<AuditEntry, "act" | "details">

/**
 * The command with its entry in the audit log, in the same commit. No entry is saved if `entryOf` returns null or the
 * command is refused.
 */
export const withAuditEntry = <A, E>(
  command: Command<A, E>,
  actor: string,
  entryOf: (result: A) => AuditedAct | null
): Command<A, E> => ({
  ...command,
  run: (state, moment) =>
    Either.map(command.run(state, moment), (decision) => {
      const entry = entryOf(decision.result)
      if (entry === null) return decision
      const { shop_id } = command
      const id = makeIdentifier<string>(moment, LAST_IDENTIFIER)
      const row: AuditEntry = { ...entry, shop_id, id, created_at: moment.now, actor }
      return { ...decision, changes: [...decision.changes, { _tag: "AuditAppended", row }] }
    })
})
