import { Data } from "effect"

/** One thing that is wrong with an input: where it stands and what to change. */
export interface Issue {
  readonly field: string
  readonly message: string
}

/** An input breaks a rule that only the shop's data can tell, such as a quote below the deposit (Specification, Errors; Tickets). */
export class InvalidInput extends Data.TaggedError("InvalidInput")<{ readonly issues: ReadonlyArray<Issue> }> {
  override get message() {
    return this.issues.map(({ field, message }) => `${field} ${message}`).join("; ")
  }
}
