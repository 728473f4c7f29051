import type { Act, Look } from "./Act.js"
import { clientActs } from "./clientActs.js"
import { looks } from "./looks.js"
import { machineActs } from "./machineActs.js"
import { shopActs } from "./shopActs.js"
import { systemActs } from "./systemActs.js"

/** Everything that a step can do, a row each. */
export const acts: ReadonlyMap<string, Act> = new Map(
  [...systemActs, ...shopActs, ...clientActs, ...machineActs].map((act) => [act.name, act])
)

/** Everything that a step can look at, a row each. */
export const views: ReadonlyMap<string, Look> = new Map(looks.map((look) => [look.name, look]))

/** What a step is named for. */
export const doings: ReadonlyArray<string> = [...acts.keys(), ...views.keys()]
