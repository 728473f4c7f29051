import { createHash } from "node:crypto"
import type { History } from "./History.js"
import { type Breach, judge } from "./Judge.js"
import { Player } from "./Player.js"
import { type Step, scriptOf } from "./Script.js"
import { withTimersOf } from "./Simulation.js"

/** The default number of steps of a run. */
export const STEPS = 80

/** The result of a run: the rules that it broke, and a digest of its history. */
export interface Run {
  readonly breaches: ReadonlyArray<Breach>
  readonly digest: string
  readonly history: History
}

const playScript = (seed: number, script: ReadonlyArray<Step>): Run => {
  const player = new Player(seed)
  const history = withTimersOf(player.simulation, () => player.play(script))
  const digest = createHash("sha256").update(JSON.stringify(history)).digest("hex")
  return { breaches: judge(history), digest, history }
}

/** The steps of a seed's script: those with the numbers `only`, or all. */
const selectedSteps = (seed: number, steps: number, only: ReadonlyArray<number> | null): ReadonlyArray<Step> => {
  const script = scriptOf(seed, steps)
  return only === null ? script : script.filter((_, i) => only.includes(i))
}

/** Plays a seed, or only some steps of its script. */
export const play = (seed: number, steps = STEPS, only: ReadonlyArray<number> | null = null): Run =>
  playScript(seed, selectedSteps(seed, steps, only))

/**
 * The fewest steps found that still break the same rule. It leaves out halves, quarters and so on as long as the rule
 * stays broken.
 */
export const shrink = (seed: number, steps: number, rule: string): ReadonlyArray<number> => {
  let left = Array.from({ length: steps }, (_, i) => i)
  const stillBreaks = (only: ReadonlyArray<number>) =>
    play(seed, steps, only).breaches.some((breach) => breach.rule === rule)
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < left.length; ) {
      const fewer = [...left.slice(0, at), ...left.slice(at + size)]
      if (stillBreaks(fewer)) left = fewer
      else at += size
    }
  }
  return left
}
