import { Context, Effect } from "effect"
import { Limits } from "../domain/Limits.js"

/**
 * The person or program that the audit log names for the acts of owners and operators, such as `owner:amira` or an employee's name. The
 * default is `unknown`; set it with `Effect.provideService(acts, Actor, "owner:amira")`.
 */
export class Actor extends Context.Reference<Actor>()("@workshop/core/Actor", {
  defaultValue: (): string => "unknown"
}) {
  /** The actor as the audit log stores it: one line, cut to a maximum length. */
  static readonly current = Effect.map(Actor, (actor) =>
    [...actor.replace(/\p{Cc}/gu, " ")].slice(0, Limits.name_characters).join("")
  )
}
