import { Context } from "effect"
import { defaultLimits, type LimitsByPolicy } from "../domain/Limits.js"

/**
 * How often each policy may be used: the specification's limits, unless an embedder provides others, where `Infinity`
 * removes a limit. All processes on a store must have the same limits.
 */
export class PolicyLimits extends Context.Reference<PolicyLimits>()("@workshop/core/PolicyLimits", {
  defaultValue: (): LimitsByPolicy => defaultLimits
}) {}
