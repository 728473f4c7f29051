import { advanceReplay, startReplay } from "../decisions/replayDeliveries.js"
import { removeWebhook, setWebhook } from "../decisions/webhookSettings.js"
import { Deliveries } from "../ports/Deliveries.js"
import { Reads } from "../ports/Reads.js"
import { same } from "./ContractCase.js"
import { answered, courierCase, record } from "./Courier.js"
import { run } from "./Fixtures.js"

const OK = answered(200)

/** What becomes of deliveries whose webhook is removed. */
export const webhookRemovalContract = [
  courierCase(
    "a removed webhook takes all that waits with it, a thousand at a time; a later one gets what is raised from then on",
    function* (courier) {
      const shop = yield* courier.open
      const other = yield* courier.open
      yield* courier.raise(shop, ...Array(1300).fill(null))
      const [inFlight] = yield* courier.claim(1)
      const replay = yield* run(startReplay(shop, {}))
      yield* same("the first thousand", yield* run(removeWebhook(shop)), "more")
      yield* same("turned off meanwhile", (yield* (yield* Reads).shop(shop))?.webhook?.off_reason, "disabled")
      yield* same("nothing is claimed", yield* courier.claim(), [])
      yield* same("the rest", yield* run(removeWebhook(shop)), "removed")
      const state = yield* (yield* Reads).shop(shop)
      yield* same("no webhook", state?.webhook, null)
      yield* same("a late answer", yield* record(inFlight!, OK), "superseded")
      yield* courier.raise(shop, null)
      yield* courier.raise(other, null)
      const claims = yield* courier.claim()
      yield* same("only the other shop's", new Set(claims.map(({ shop_id }) => shop_id)), new Set([other]))
      yield* same("its replay ends", yield* run(advanceReplay(shop, replay.id)), { taken_up: 0, is_done: true })
      const open = (yield* (yield* Deliveries).replays).filter(({ shop_id }) => shop_id === shop)
      yield* same("and is open no more", open, [])
      yield* run(setWebhook(shop, { url: "https://new.example/hook", secret: "whsec_2" }))
      yield* courier.raise(shop, null)
      const events = yield* (yield* Reads).events(shop)
      const [first, ...rest] = (yield* courier.claim()).filter(({ shop_id }) => shop_id === shop)
      yield* same(
        "what was raised since",
        [first?.event_id, first?.webhook.secret, rest],
        [events.at(-1)?.id, "whsec_2", []]
      )
    }
  )
]
