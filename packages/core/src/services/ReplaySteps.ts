import { type Context, Effect } from "effect"
import { advanceReplay } from "../decisions/replayDeliveries.js"
import type { Deliveries } from "../ports/Deliveries.js"
import type { Store } from "../ports/Store.js"

/** How replays become deliveries that wait (Specification, Webhooks). */
export const replaySteps = ({ replays }: Context.Tag.Service<Deliveries>, store: Context.Tag.Service<Store>) => {
  let stepped = 0
  return {
    /** Takes a step of every open replay. Answers how many got on by it. */
    advance: Effect.gen(function* () {
      const open = yield* replays
      const steps = yield* Effect.forEach(open, ({ shop_id, id }) => store.transact(advanceReplay(shop_id, id)))
      for (const { answer } of steps) stepped += answer.taken_up
      return steps.filter(({ answer }) => answer.taken_up > 0 || !answer.is_done).length
    }),
    /** How many events were taken up so far. */
    stepped: () => stepped
  }
}
