import { Either } from "effect"
import type { AuditEntry } from "../domain/AuditEntry.js"
import type { ShopId } from "../domain/Identifier.js"
import type { LimitStatus } from "../domain/LimitWindow.js"
import { identifier, LAST_IDENTIFIER, type Moment, type ShopMoment } from "../domain/Moment.js"
import type { ShopHead, ShopRecord } from "../domain/Shop.js"
import type { Webhook } from "../domain/Webhook.js"
import type { Load, LoadRequest } from "./Load.js"
import { apply, type Change, type ShopState } from "./ShopState.js"

/** What was decided: the answer, all changes that make it true, and the limits it touched. */
export interface Decision<out A> {
  readonly answer: A
  readonly changes: ReadonlyArray<Change>
  readonly usages: ReadonlyArray<LimitStatus>
}

/** What every decision sees besides its needs. */
export interface HeldShop {
  readonly shop: ShopRecord
  readonly head: ShopHead
  readonly webhook: Webhook | null
}

/** A write to one shop: what must be loaded, and the decision over it. Stores run it; nothing else writes. */
export interface Command<out A, out E = never> {
  readonly shop_id: ShopId
  readonly asks: ReadonlyArray<LoadRequest>
  readonly run: (slice: ShopState, moment: ShopMoment) => Either.Either<Decision<A>, E>
}

/** A command's answer, with the limits it touched. */
export interface Outcome<out A> {
  readonly answer: A
  readonly usages: ReadonlyArray<LimitStatus>
}

type Loaded<N> = { readonly [K in keyof N]: N[K] extends Load<infer L, unknown> ? L : never } & HeldShop
type Missing<N> = { [K in keyof N]: N[K] extends Load<unknown, infer E> ? E : never }[keyof N]
type Needs = Readonly<Record<string, Load<unknown, unknown>>>
type Answer<R> = R extends Either.Right<infer _, infer D> ? (D extends Decision<infer A> ? A : never) : never
type Refused<R> = R extends Either.Left<infer E, infer _> ? E : never

/**
 * Makes a command from its needs and a pure `decide`. `decide` receives exactly what the needs name;
 * a missing row refuses the command before `decide` is asked.
 */
export const make = <const N extends Needs, R extends Either.Either<Decision<unknown>, unknown>>(spec: {
  readonly shop_id: ShopId
  readonly needs: N
  readonly decide: (loaded: Loaded<N>, moment: ShopMoment) => R
}): Command<Answer<R>, Refused<R> | Missing<N>> => {
  const named = Object.entries(spec.needs)
  return {
    shop_id: spec.shop_id,
    asks: named.flatMap(([, need]) => need.asks),
    run: (slice, moment) => {
      const loaded: Record<string, unknown> = { shop: slice.shop, head: slice.head, webhook: slice.webhook }
      for (const [name, need] of named) {
        const row = need.read(slice)
        if (Either.isLeft(row)) return Either.left(row.left as Missing<N>)
        loaded[name] = row.right
      }
      return spec.decide(loaded as Loaded<N>, moment) as Either.Either<Decision<Answer<R>>, Refused<R>>
    }
  }
}

/**
 * Decides a command on its shop's data without changing anything. What it records never bears an earlier instant than the
 * shop's latest command, so that order of time and order of commits agree (Specification, Lists and sync); what falls due follows the clock.
 */
export const decide = <A, E>(command: Command<A, E>, slice: ShopState, moment: Moment): Either.Either<Decision<A>, E> =>
  command.run(slice, { ...moment, recorded_at: Math.max(moment.now, slice.head.last_instant) })

/** Decides a command and makes its changes visible in the slice. A refusal changes nothing. */
export const execute = <A, E>(
  command: Command<A, E>,
  slice: ShopState,
  moment: Moment
): Either.Either<Decision<A>, E> => {
  const decision = decide(command, slice, moment)
  if (Either.isRight(decision)) for (const change of decision.right.changes) apply(slice, change)
  return decision
}

/** What an entry of the audit log says of an act. */
export type Audited = Pick<AuditEntry, "act" | "details">

/** The command with its line in the audit log, in the same commit; no line where `tell` answers null, or it is refused. */
export const audited = <A, E>(
  command: Command<A, E>,
  actor: string,
  tell: (answer: A) => Audited | null
): Command<A, E> => ({
  ...command,
  run: (slice, moment) =>
    Either.map(command.run(slice, moment), (decision) => {
      const told = tell(decision.answer)
      if (told === null) return decision
      const { shop_id } = command
      const id = identifier<string>(moment, LAST_IDENTIFIER)
      const row: AuditEntry = { ...told, shop_id, id, created_at: moment.now, actor }
      return { ...decision, changes: [...decision.changes, { _tag: "AuditAppended", row }] }
    })
})
