import { Context, type Effect } from "effect"
import type { Instant } from "../domain/Instant.js"
import type { Message } from "../domain/Message.js"
import type { StoreUnavailable } from "./Store.js"

/**
 * Which messages wait to be told (Specification, States; Webhooks). Their rows are written by commands; an entry is only a hint: who
 * tells a message is decided by its command, so of two processes that find the same entry one begins.
 */
export class Messages extends Context.Tag("@workshop/core/Messages")<
  Messages,
  {
    /** At most `limit` messages due at `until` or before, earliest first, with what they say. */
    readonly due: (until: Instant, limit: number) => Effect.Effect<ReadonlyArray<Message>, StoreUnavailable>
  }
>() {}
