import { Effect, Logger } from "effect"
import { describe, expect, it } from "vitest"
import type { PolicyName } from "../../src/domain/Limits.js"
import { LimitReached, type LimitUse } from "../../src/domain/LimitWindow.js"
import {
  type AuthenticatedRequest,
  type Check,
  type CheckedRequest,
  Checks,
  type RequestSteps,
  runChecks,
  type ValidRequest
} from "../../src/http/Checks.js"
import type { Route, RouteHandler } from "../../src/http/Endpoint.js"
import type { Failure } from "../../src/http/ErrorTable.js"
import {
  makeBodyCheck,
  makeEndpointHandler,
  makeRefusalCheck,
  makeRouteCheck,
  makeValidationCheck
} from "../../src/http/endpointChecks.js"
import { StoreUnavailable } from "../../src/ports/StorePorts.js"
import type { Caller } from "../../src/services/Caller.js"

const context = { id: "r", now: 0, route: "/v1", caller: null, limitStatuses: [] }
const request = {} as CheckedRequest["request"]

/** An asynchronous check that refuses nothing; the limits before it are counted before it runs. */
const waits: Check = { name: "waits", refuses: "nothing", kind: "async", run: Effect.succeed }

/**
 * Runs a request through limits, an asynchronous check and a check that may refuse, and returns its status and the
 * steps in order.
 */
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
    .check(makeRefusalCheck("first", "404", () => noting("first", isAbsent ? { _tag: "RouteNotFound" } : undefined)))
    .limit(use("writes_per_minute"))
    .check({
      name: "later",
      refuses: "nothing",
      kind: "async",
      run: (checked) => Effect.sync(() => noting("later", checked))
    })
    .limit(use("lookups_per_hour"))
    .check(makeRefusalCheck("last", "403", () => noting("last", refuses ? { _tag: "ApiDisabled" } : undefined)))
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

  it("a 429 gives back the counted uses of limits with isGivenBackOn429 (Specification, Limits)", async () => {
    const givenBack: Array<unknown> = []
    const status = (policy: PolicyName) => ({ policy, limit: 9, remaining: 8, resets_at: 60_000 })
    const use = (policy: PolicyName) => ({ policy, subject: `of ${policy}`, time_zone: null })
    const limits = {
      take: (uses: ReadonlyArray<LimitUse>) => Effect.succeed(uses.map(({ policy }) => status(policy))),
      giveBack: (uses: unknown, statuses: unknown) => Effect.sync(() => void givenBack.push([uses, statuses]))
    }
    const limitReached = new LimitReached({ limitStatuses: [status("tickets_per_day")], refused_at: 0 })
    const counted = Checks.from([])
      .limit({ name: "requests", refuses: "429", uses: () => [use("requests_per_minute")], isGivenBackOn429: true })
      .limit({ name: "writes", refuses: "429", uses: () => [use("writes_per_minute")] })
      .check(waits)
    const statusOf = async (failure: Failure) => {
      const steps = counted.handle({ name: "handler", refuses: "429", handle: () => Effect.fail(failure) })
      const response = await Effect.runPromise(runChecks(steps, limits as never)(request, context))
      return [response.status, response.context.limitStatuses]
    }
    const both = [status("requests_per_minute"), status("writes_per_minute")]
    expect(await statusOf({ _tag: "ApiDisabled" })).toEqual([403, both])
    expect(givenBack).toEqual([])
    expect(await statusOf(limitReached)).toEqual([429, both])
    expect(givenBack).toEqual([[[use("requests_per_minute")], [status("requests_per_minute")]]])
  })

  it("the response to a failure has the limit headers of earlier checks, even if the handler throws (Specification, Limits)", async () => {
    const limits = {
      take: () => Effect.succeed([{ policy: "requests_per_minute", limit: 9, remaining: 8, resets_at: 1 }])
    }
    const counted = Checks.from([])
      .limit({ name: "limit", refuses: "429", uses: () => [{} as LimitUse] })
      .check(waits)
    const remainingOf = async (steps: RequestSteps) => {
      const quiet = Effect.provide(
        runChecks(steps, limits as never)(request, context),
        Logger.remove(Logger.defaultLogger)
      )
      const { status, headers } = await Effect.runPromise(quiet)
      return [status, headers["RateLimit-Remaining"]]
    }
    const failing = counted.check({
      name: "check",
      refuses: "503",
      kind: "async",
      run: () => Effect.fail(new StoreUnavailable({}))
    })
    const handler = { name: "handler", refuses: "nothing", handle: () => Effect.succeed({ data: null }) }
    const thrower = {
      ...handler,
      handle: () => {
        throw new Error("a bug")
      }
    }
    expect(await remainingOf(failing.handle(handler))).toEqual([503, "8"])
    expect(await remainingOf(counted.handle(thrower))).toEqual([500, "8"])
  })

  it("a check cannot be declared before those whose results it needs", () => {
    const routed = Checks.from([]).check(makeRouteCheck()).check(makeBodyCheck()).check(makeValidationCheck())
    expect(routed.steps.map(({ name }) => name)).toEqual(["route", "body", "validation"])
    // @ts-expect-error The check needs the body, which no earlier check reads.
    Checks.from([]).check(makeRouteCheck()).check(makeValidationCheck())
    // @ts-expect-error The check needs the shop, which no earlier check loads.
    Checks.from([]).check(makeRefusalCheck("shop", "403", ({ shop }) => shop.active && undefined))
    const forCallers = makeEndpointHandler({
      handlers: new Map<Route, RouteHandler<Caller>>(),
      callerOf: ({ caller }: ValidRequest & AuthenticatedRequest) => caller,
      validateResponses: false
    })
    // @ts-expect-error The handlers need the caller, whom no check identifies.
    routed.handle(forCallers)
  })

  it("the route check adds the route to a new context, and does not change the context before it", () => {
    const check = makeRouteCheck()
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
