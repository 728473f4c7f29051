import { Effect } from "effect"
import { appActs } from "./acts/appActs.js"
import { clientActs } from "./acts/clientActs.js"
import { drawLeap } from "./acts/clockMoves.js"
import { loyaltyActs } from "./acts/loyaltyActs.js"
import { ownerActs } from "./acts/ownerActs.js"
import { readActs } from "./acts/readActs.js"
import { receiverActs } from "./acts/receiverActs.js"
import { tillActs } from "./acts/tillActs.js"
import type { Answer } from "./auditor/Evidence.js"
import type { Deed, Errand, Stage } from "./Errand.js"
import { type Call, type Face, FaceBroken } from "./Face.js"
import { realMs } from "./realMs.js"
import type { Witness } from "./Witness.js"

const [first, ...others] = [
  ...tillActs,
  ...readActs,
  ...loyaltyActs,
  ...appActs,
  ...clientActs,
  ...ownerActs,
  ...receiverActs
]
const ACTS: readonly [Deed, ...ReadonlyArray<Deed>] = [first!, ...others]

/** How often another act is drawn where one cannot be done. */
const MOST_DRAWS = 20

const callOf = (
  { method, path, query = "", key, once, body, fate = "plain" }: Errand,
  token: string | null,
  pauses: number
): Call => {
  const bearer = path.startsWith("/sandbox") ? token : key?.text
  return {
    method,
    path,
    query,
    headers: {
      ...(bearer === null || bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(once === undefined ? {} : { "idempotency-key": once }),
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    fate,
    pauses
  }
}

/** The acts of a simulation, one step after another. */
export class Play {
  readonly stage: Stage
  readonly witness: Witness
  readonly #face: Face
  readonly #token: string | null
  step = 0

  constructor(parts: {
    readonly stage: Stage
    readonly witness: Witness
    readonly face: Face
    readonly token: string | null
  }) {
    this.stage = parts.stage
    this.witness = parts.witness
    this.#face = parts.face
    this.#token = parts.token
  }

  /** Makes a request, writes down what came of it, and tells whoever made it. */
  readonly run = (errand: Errand, pauses = 0): Effect.Effect<Answer | null, FaceBroken> =>
    Effect.suspend(() => {
      const began = realMs()
      return Effect.map(this.#face.ask(callOf(errand, this.#token, pauses)), (answer) => {
        const ended_ms = realMs()
        this.#note(errand, answer)
        this.witness.laps.push({ act: errand.act, ended_ms, took_ms: ended_ms - began })
        errand.told?.(errand.fate === "lost" ? null : answer)
        return answer
      })
    })

  /** Makes requests at once, in an order that the dice decide. */
  readonly together = (errands: ReadonlyArray<Errand>): Effect.Effect<void, FaceBroken> => {
    const { dice } = this.stage
    const drawn = errands.map((errand) => ({
      errand,
      pauses: errands.length > 1 || errand.fate === "cut" ? dice.between(0, 3) : 0
    }))
    return Effect.forEach(drawn, ({ errand, pauses }) => this.run(errand, pauses), {
      concurrency: "unbounded",
      discard: true
    })
  }

  /** Moves the sandbox clock; everything due on the way happens. */
  readonly moveClock = (move: Readonly<Record<string, unknown>>): Effect.Effect<void, FaceBroken> =>
    Effect.flatMap(
      this.run({
        actor: "clock",
        act: "move the clock",
        shop: null,
        method: "POST",
        path: "/sandbox/clock",
        body: move
      }),
      (answer) =>
        answer?.status === 200
          ? Effect.void
          : Effect.fail(
              new FaceBroken({
                message: `The sandbox clock does not move (${answer?.status ?? "cut off"}): is the server started with --sandbox?`
              })
            )
    )

  /** Time passes, then something happens, or several things at once. */
  readonly next: Effect.Effect<void, FaceBroken> = Effect.suspend(() => {
    this.step += 1
    const leap = drawLeap(this.stage)
    return Effect.zipRight(
      this.moveClock(leap.move),
      Effect.suspend(() => this.together(leap.there ?? this.#draw()))
    )
  })

  #draw(): ReadonlyArray<Errand> {
    const { dice } = this.stage
    const deed = this.#possible(() => true)
    if (deed === null || deed.isAlone || !dice.chance(0.3)) return deed?.errands ?? []
    const more = Array.from(
      { length: dice.between(1, 4) },
      () => this.#possible((other) => other.isAlone !== true)?.errands ?? []
    )
    return [...deed.errands, ...more.flat()]
  }

  #possible(fits: (deed: Deed) => boolean) {
    for (let draws = 0; draws < MOST_DRAWS; draws++) {
      const deed = this.stage.dice.weighted(ACTS)
      const errands = fits(deed) ? deed.plan(this.stage) : null
      if (errands !== null) return { errands, isAlone: deed.isAlone === true }
    }
    return null
  }

  #note(errand: Errand, answer: Answer | null): void {
    const { actor, act, shop, key, method, path, query = "", once = null, body, fate } = errand
    const { town } = this.stage
    if (path === "/sandbox/clock")
      town.now = Date.parse((answer?.body.data as { readonly now?: string } | undefined)?.now ?? "") || town.now
    const isSeen = fate !== "lost" && answer !== null
    this.witness.exchanged({
      step: this.step,
      now: town.now,
      actor,
      act,
      shop,
      key: key?.id ?? null,
      method,
      path,
      query,
      once,
      body,
      isSeen,
      answer
    })
  }
}
