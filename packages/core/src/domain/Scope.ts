import { Schema } from "effect"

/** What a key may do (Specification, Keys and scopes). */
export const Scope = Schema.Literal("tickets:read", "tickets:write", "clients:read", "loyalty:write").annotations({
  identifier: "Scope"
})
export type Scope = typeof Scope.Type

/** What each scope grants, in a person's words (Specification, Keys and scopes). */
export const scopeGrants = {
  "tickets:read": "Read tickets",
  "tickets:write": "Create tickets and change their state",
  "clients:read": "Find a client and read their loyalty card",
  "loyalty:write": "Add stamps and use a reward"
} as const satisfies Record<Scope, string>

/** The sets of scopes that the app offers by name: full access and read only (Specification, Keys and scopes). */
export const scopePresets = {
  full: ["tickets:read", "tickets:write", "clients:read", "loyalty:write"],
  read: ["tickets:read", "clients:read"]
} as const satisfies Record<string, ReadonlyArray<Scope>>
