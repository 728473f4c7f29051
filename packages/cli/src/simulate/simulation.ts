import { SIGNATURE_HEADER } from "@workshop/core/domain/Signature"
import { Effect } from "effect"
import type { Evidence } from "./auditor/Evidence.js"
import { closing } from "./closing.js"
import { Dice } from "./Dice.js"
import type { Face, FaceBroken } from "./Face.js"
import { readClock } from "./faceClock.js"
import { opening } from "./opening.js"
import { Play } from "./Play.js"
import { Receivers } from "./Receivers.js"
import { Town } from "./Town.js"
import { Witness } from "./Witness.js"

/** How a simulation is drawn, and how far it goes. */
export interface Bounds {
  readonly seed: number
  readonly steps: number
  readonly shops: number
  /** Names and phone numbers begin after so many, for a service that may have had this run before. */
  readonly taken?: number
}

/** Those who see a simulation, apart from those who act in it. */
export interface Cast {
  readonly witness: Witness
  readonly receivers: Receivers
}

/** Whoever watches, and the receivers; their dice are not those of the acts, which could change with them. */
export const cast = (seed: number, signatureHeader = SIGNATURE_HEADER): Cast => {
  const witness = new Witness()
  return { witness, receivers: new Receivers(new Dice(seed + 0x5eed), witness, signatureHeader) }
}

/** How far a simulation has come. */
export interface Progress {
  readonly step: number
  readonly now: number
  readonly requests: number
  readonly deliveries: number
}

/** What may end a simulation before its steps are made, and who is told how far it is. */
export interface Course {
  readonly isOver: () => boolean
  readonly progress: (progress: Progress) => Effect.Effect<void>
  readonly token: string | null
}

/** Plays a simulation on a service, and gathers what the auditor goes by. */
export const simulation = (
  face: Face,
  { witness, receivers }: Cast,
  bounds: Bounds,
  course: Course
): Effect.Effect<Evidence, FaceBroken> =>
  Effect.gen(function* () {
    const town = new Town(bounds.taken)
    const stage = { town, receivers, dice: new Dice(bounds.seed), receiverOf: face.receiverOf }
    const play = new Play({ stage, witness, face, token: course.token })
    const { now: started_at } = yield* readClock(face, course.token)
    town.now = started_at
    yield* opening(play, bounds.shops)
    while (play.step < bounds.steps && !course.isOver()) {
      yield* play.next
      yield* course.progress({
        step: play.step,
        now: town.now,
        requests: witness.exchanges.length,
        deliveries: witness.receptions.length
      })
    }
    return yield* closing(play, started_at)
  })
