import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import {
  type AuthenticatedRequest,
  type CheckedRequest,
  Checks,
  runChecks,
  type ValidRequest
} from "../../src/http/Checks.js"
import type { Route, RouteHandler } from "../../src/http/Endpoint.js"
import { bodyCheck, endpointHandler, refusalCheck, routeCheck, validationCheck } from "../../src/http/endpointChecks.js"
import type { Caller } from "../../src/services/Caller.js"

const context = { id: "r", now: 0, route: "/v1", caller: null, limitStatuses: [] }
const request = {} as CheckedRequest["request"]

/** Runs a request through limits, an asynchronous check and a check that may refuse, and returns its status and the order of what ran. */
const stepsOf = async ({ refuses = false, isAbsent = false }) => {
  const ran: Array<string> = []
  const use = (policy: "requests_per_minute" | "writes_per_minute" | "lookups_per_hour") => ({
    name: policy,
    refuses: "429",
    uses: () => [{ policy, subject: "key", time_zone: null }]
  })
  const noting = <A>(name: string, value: A): A => {
    ran.push(name)
    return value
  }
  const steps = Checks.from([])
    .limit(use("requests_per_minute"))
    .check(refusalCheck("first", "404", () => noting("first", isAbsent ? { _tag: "RouteNotFound" } : undefined)))
    .limit(use("writes_per_minute"))
    .check({
      name: "later",
      refuses: "nothing",
      kind: "async",
      run: (checked) => Effect.sync(() => noting("later", checked))
    })
    .limit(use("lookups_per_hour"))
    .check(refusalCheck("last", "403", () => noting("last", refuses ? { _tag: "ApiDisabled" } : undefined)))
    .handle({ name: "handler", refuses: "nothing", handle: () => Effect.sync(() => noting("handler", { data: null })) })
  const limits = {
    take: (uses: ReadonlyArray<{ readonly policy: string }>) =>
      Effect.sync(() => noting(`take ${uses.map(({ policy }) => policy)}`, []))
  }
  const { status } = await Effect.runPromise(runChecks(steps, limits as never)(request, context))
  return [...ran, status]
}

describe("The checks of a request (Specification, Errors)", () => {
  it("the collected limits are counted in one call before an asynchronous check, the handler and a refusal (Specification, Limits)", async () => {
    const before = ["first", "take requests_per_minute,writes_per_minute", "later", "last", "take lookups_per_hour"]
    expect(await stepsOf({})).toEqual([...before, "handler", 200])
    expect(await stepsOf({ refuses: true })).toEqual([...before, 403])
    expect(await stepsOf({ isAbsent: true })).toEqual(["first", "take requests_per_minute", 404])
  })

  it("a check cannot be declared before those whose results it needs", () => {
    const routed = Checks.from([]).check(routeCheck()).check(bodyCheck()).check(validationCheck())
    expect(routed.steps.map(({ name }) => name)).toEqual(["route", "body", "validation"])
    // @ts-expect-error The input is read from a body, which nothing has read.
    Checks.from([]).check(routeCheck()).check(validationCheck())
    // @ts-expect-error Nobody has found the shop.
    Checks.from([]).check(refusalCheck("shop", "403", ({ shop }) => shop.active && undefined))
    const forCallers = endpointHandler({
      handlers: new Map<Route, RouteHandler<Caller>>(),
      callerOf: ({ caller }: ValidRequest & AuthenticatedRequest) => caller,
      validateResponses: false
    })
    // @ts-expect-error The handlers get a caller, whom nothing has found.
    routed.handle(forCallers)
  })

  it("the request's labels have the route as soon as it is known, and before that the prefix", () => {
    const check = routeCheck()
    const match = { route: { path: "/v1/tickets/:id" } as unknown as Route, path: { id: "x" } }
    const checked = { request, match, context }
    const routed = check.kind === "sync" && check.run(checked)
    expect(routed).toMatchObject({ match, context: { route: "/v1/tickets/:id" } })
    expect(checked.context).toBe(context)
    const missing = check.kind === "sync" && check.run({ request, match: undefined, context })
    expect(missing).toMatchObject({ failure: { _tag: "RouteNotFound" } })
    expect(context.route).toBe("/v1")
  })
})
