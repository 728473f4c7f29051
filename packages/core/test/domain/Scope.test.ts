import { describe, expect, it } from "vitest"
import { Scope, scopeGrants, scopePresets } from "../../src/domain/ApiKey.js"

describe("Specification, Keys and scopes: scopes", () => {
  it("there are four scopes (Specification, Keys and scopes)", () => {
    expect([...Scope.literals].sort()).toEqual(["clients:read", "loyalty:write", "tickets:read", "tickets:write"])
  })

  it("the preset 'Full access' gives all four scopes (Specification, Keys and scopes)", () => {
    expect([...scopePresets.full].sort()).toEqual(["clients:read", "loyalty:write", "tickets:read", "tickets:write"])
  })

  it("the preset 'Read only' gives tickets:read and clients:read (Specification, Keys and scopes)", () => {
    expect([...scopePresets.read].sort()).toEqual(["clients:read", "tickets:read"])
  })

  it("each scope has the description of the specification (Specification, Keys and scopes)", () => {
    expect(scopeGrants).toEqual({
      "tickets:read": "Read tickets",
      "tickets:write": "Create tickets and change their state",
      "clients:read": "Find a client and read their loyalty card",
      "loyalty:write": "Add stamps and use a reward"
    })
  })
})
