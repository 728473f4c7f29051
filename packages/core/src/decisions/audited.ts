import { Either } from "effect"
import type { AuditEntry } from "../domain/AuditEntry.js"
import { identifier, LAST_IDENTIFIER } from "../domain/Moment.js"
import type { Command } from "./Command.js"

/** What an entry of the audit log says of an act. */
export type Audited = Pick<AuditEntry, "act" | "details">

/** The command with its line in the audit log, in the same commit; no line where `tell` answers null, or it is refused. */
export const audited = <A, E>(
  command: Command<A, E>,
  actor: string,
  tell: (answer: A) => Audited | null
): Command<A, E> => ({
  ...command,
  run: (slice, moment) =>
    Either.map(command.run(slice, moment), (decision) => {
      const told = tell(decision.answer)
      if (told === null) return decision
      const { shop_id } = command
      const id = identifier<string>(moment, LAST_IDENTIFIER)
      const row: AuditEntry = { ...told, shop_id, id, created_at: moment.now, actor }
      return { ...decision, changes: [...decision.changes, { _tag: "AuditAppended", row }] }
    })
})
