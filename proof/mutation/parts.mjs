/**
 * The rules that are mutated, and the tests that must notice by themselves. Each file of the domain is proved by the tests beside it.
 * Few tests for each mutant keep a run short: a mutated table is looked at by all of them.
 * @type {Readonly<Record<string, { readonly files: ReadonlyArray<string>, readonly tests: ReadonlyArray<string> }>>}
 */
export const parts = {
  tickets: {
    files: ["domain/Money", "domain/Phone", "domain/TicketLifecycle"],
    tests: ["domain/Money", "domain/Phone", "domain/TicketLifecycle"]
  },
  limits: {
    files: ["domain/LimitWindow", "domain/LoyaltyCard", "domain/Offer"],
    tests: ["domain/LimitWindow", "domain/Take", "domain/LoyaltyCard", "domain/Offer"]
  },
  time: {
    files: ["domain/Cursor", "domain/Digest", "domain/Duration", "domain/Instant"],
    tests: ["domain/Cursor", "domain/Digest", "domain/Duration", "domain/Instant"]
  }
}
