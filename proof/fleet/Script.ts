import { Draws, HOUR, MINUTE, SECOND } from "./Simulation.js"

/** A step of a run: its action, the random numbers for its choices, and the time that passes afterwards. */
export interface Step {
  readonly does: StepName
  readonly picks: ReadonlyArray<number>
  readonly then_ms: number
}

/** The weight of each step in the random draws. */
const weights = {
  create: 22,
  status: 26,
  notified: 4,
  quote: 3,
  answerQuote: 3,
  sync: 10,
  readTicket: 4,
  listTickets: 3,
  stamps: 6,
  redeem: 3,
  findClient: 3,
  rotate: 3,
  turnOff: 2,
  turnOn: 4,
  otherAddress: 2,
  replay: 5,
  revoke: 4,
  switchApi: 2,
  programme: 2,
  ping: 2,
  acceptOffer: 4,
  block: 1,
  visit: 2,
  receiver: 9,
  storeUnavailable: 3,
  storeFlaky: 4,
  cellUnavailable: 4,
  stopNode: 5,
  killNode: 3,
  clock: 5,
  deaf: 3,
  notifierFails: 2,
  leap: 4
} as const

/** A key of {@link weights}. */
export type StepName = keyof typeof weights

const names = Object.keys(weights) as ReadonlyArray<StepName>
const total = names.reduce((sum, name) => sum + weights[name], 0)

const drawName = (draws: Draws): StepName => {
  let left = draws.integerBetween(1, total)
  return names.find((name) => {
    left -= weights[name]
    return left <= 0
  })!
}

const drawGap = (draws: Draws): number => {
  const kind = draws.integerBetween(1, 100)
  if (kind <= 45) return draws.integerBetween(0, 20)
  if (kind <= 85) return draws.integerBetween(20, 900)
  if (kind <= 98) return draws.integerBetween(SECOND, 3 * SECOND)
  return draws.integerBetween(10 * SECOND, 35 * SECOND)
}

/** The durations for which all machines may sleep. */
export const CLOCK_JUMPS = [
  61 * SECOND,
  5 * MINUTE + SECOND,
  31 * MINUTE,
  2 * HOUR + MINUTE,
  24 * HOUR + 1,
  25 * HOUR,
  60 * 24 * HOUR
] as const

/** The script of a seed. */
export const scriptOf = (seed: number, steps: number): ReadonlyArray<Step> => {
  const draws = new Draws(seed)
  return Array.from({ length: steps }, () => ({
    does: drawName(draws),
    picks: Array.from({ length: 6 }, () => draws.integerBetween(0, 9999)),
    then_ms: drawGap(draws)
  }))
}
