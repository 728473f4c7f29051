import { advanceReplay, startReplay } from "../decisions/replayDeliveries.js"
import { removeWebhook, setWebhook } from "../decisions/webhookSettings.js"
import { cases, each, same } from "./ContractCase.js"
import { run } from "./Fixtures.js"
import { answered, record } from "./TestDispatcher.js"

const OK = answered(200)

/** What becomes of deliveries whose webhook is removed. */
export const webhookRemovalContract = cases({
  "a removed webhook takes all that waits with it, a thousand at a time; a later one gets what is raised from then on":
    function* (bench) {
      const { dispatcher, reads, deliveries } = bench

      const shop = yield* dispatcher.open
      const other = yield* dispatcher.open
      yield* dispatcher.raise(shop, ...Array(1300).fill(null))
      const [inFlight] = yield* dispatcher.claim(1)
      const replay = yield* run(startReplay(shop, {}))
      yield* same("the first thousand", yield* run(removeWebhook(shop)), "more")
      yield* same("turned off meanwhile", (yield* reads.shop(shop))?.webhook?.off_reason, "disabled")
      yield* same("nothing is claimed", yield* dispatcher.claim(), [])
      yield* same("the rest", yield* run(removeWebhook(shop)), "removed")
      const state = yield* reads.shop(shop)
      yield* same("no webhook", state?.webhook, null)
      yield* same("a late answer", yield* record(inFlight!, OK), "superseded")
      yield* dispatcher.raise(shop, null)
      yield* dispatcher.raise(other, null)
      const claims = yield* dispatcher.claim()
      yield* same("only the other shop's", new Set(each(claims, "shop_id")), new Set([other]))
      yield* same("its replay ends", yield* run(advanceReplay(shop, replay.id)), { taken_up: 0, is_done: true })
      const open = (yield* deliveries.replays).filter(({ shop_id }) => shop_id === shop)
      yield* same("and is open no more", open, [])
      yield* run(setWebhook(shop, { url: "https://new.example/hook", secret: "whsec_2" }))
      yield* dispatcher.raise(shop, null)
      const events = yield* reads.events(shop)
      const [first, ...rest] = (yield* dispatcher.claim()).filter(({ shop_id }) => shop_id === shop)
      yield* same(
        "what was raised since",
        [first?.event_id, first?.webhook.secret, rest],
        [events.at(-1)?.id, "whsec_2", []]
      )
    }
})
