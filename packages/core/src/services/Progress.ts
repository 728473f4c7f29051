import { Effect } from "effect"
import { checkedTexts } from "../decisions/checkedTexts.js"
import { editTicket, type TicketEdit } from "../decisions/editTicket.js"
import * as News from "../decisions/ticketProgress.js"
import type { TicketId } from "../domain/Identifier.js"
import { ProfanityFilter } from "../ports/ProfanityFilter.js"
import { Store } from "../ports/Store.js"
import { resultOf } from "./answered.js"
import type { Caller } from "./Caller.js"

/** What the shop tells of a ticket while the work goes on: delays, parts, pictures, corrections (Specification, Tickets; States). */
export class Progress extends Effect.Service<Progress>()("@workshop/core/Progress", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = resultOf(yield* Store)
    const profanity = yield* ProfanityFilter
    return {
      /** Changes what was said of a ticket. */
      edit: ({ shop_id }: Caller, id: TicketId, edit: TicketEdit) =>
        Effect.flatMap(profanity.find(checkedTexts(edit)), (found) => run(editTicket(shop_id, id, edit, found))),
      /** Postpones the promised date. */
      announceDelay: ({ shop_id }: Caller, id: TicketId, input: News.DelayInput) =>
        run(News.announceDelay(shop_id, id, input)),
      /** Notes a part as ordered or received. */
      recordPart: ({ shop_id }: Caller, id: TicketId, input: News.PartInput) =>
        run(News.recordPart(shop_id, id, input)),
      /** Puts a picture to the ticket. */
      attachPhoto: ({ shop_id }: Caller, id: TicketId, input: News.PhotoInput) =>
        run(News.attachPhoto(shop_id, id, input))
    }
  })
}) {}
