import { Effect } from "effect"
import { editTicket, type TicketEdit } from "../decisions/editTicket.js"
import {
  announceDelay,
  attachPhoto,
  type DelayInput,
  type PartInput,
  type PhotoInput,
  recordPart
} from "../decisions/ticketProgress.js"
import { ticketTextsOf } from "../domain/ForbiddenWord.js"
import type { TicketId } from "../domain/Identifier.js"
import { ProfanityFilter } from "../ports/ProfanityFilter.js"
import { Store } from "../ports/StorePorts.js"
import { asCaller, type Caller } from "./Caller.js"
import { makeCommandRunner } from "./CommandRunner.js"

/**
 * Records the shop's progress on a ticket in its app: delays, parts, a photo and corrections (Specification, Tickets;
 * States).
 */
export class Progress extends Effect.Service<Progress>()("@workshop/core/Progress", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = makeCommandRunner(yield* Store)
    const profanity = yield* ProfanityFilter
    return {
      /** Corrects the fields of a ticket. */
      edit: (caller: Caller, id: TicketId, edit: TicketEdit) =>
        Effect.flatMap(profanity.find(ticketTextsOf(edit)), (foundWords) =>
          run(asCaller(caller, editTicket(caller.shop_id, id, edit, foundWords)))
        ),
      /** Changes the promised date to a later one. */
      announceDelay: (caller: Caller, id: TicketId, input: DelayInput) =>
        run(asCaller(caller, announceDelay(caller.shop_id, id, input))),
      /** Records a part as ordered or received. */
      recordPart: (caller: Caller, id: TicketId, input: PartInput) =>
        run(asCaller(caller, recordPart(caller.shop_id, id, input))),
      /** Sets the ticket's picture. */
      attachPhoto: (caller: Caller, id: TicketId, input: PhotoInput) =>
        run(asCaller(caller, attachPhoto(caller.shop_id, id, input)))
    }
  })
}) {}
