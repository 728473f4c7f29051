import { describe, expect, it } from "vitest"
import {
  bodyCheck,
  type CheckedRequest,
  Checks,
  refusalCheck,
  routeCheck,
  validationCheck
} from "../../src/http/checks.js"
import type { Route } from "../../src/http/Endpoint.js"

const context = { id: "r", now: 0, route: "/v1", caller: null, limitStatuses: [] }
const request = {} as CheckedRequest["request"]

describe("The checks of a request (Specification, Errors)", () => {
  it("come only after those that find what they take", () => {
    const routed = Checks.from([]).check(routeCheck()).check(bodyCheck()).check(validationCheck())
    expect(routed.steps.map(({ name }) => name)).toEqual(["route", "body", "validation"])
    // @ts-expect-error The input is read from a body, which nothing has read.
    Checks.from([]).check(routeCheck()).check(validationCheck())
    // @ts-expect-error Nobody has found the shop.
    Checks.from([]).check(refusalCheck("shop", "403", ({ shop }) => shop.active && undefined))
  })

  it("name the route as soon as it is found, and the prefix before", () => {
    const check = routeCheck()
    const match = { route: { path: "/v1/tickets/:id" } as unknown as Route, path: { id: "x" } }
    const found = check.kind === "sync" && check.run({ request, match, context })
    expect(found).toMatchObject({ match, context: { route: "/v1/tickets/:id" } })
    const missing = check.kind === "sync" && check.run({ request, match: undefined, context })
    expect(missing).toMatchObject({ failure: { _tag: "RouteNotFound" } })
    expect(context.route).toBe("/v1")
  })
})
