import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { StepContext } from "../../src/scenario/Action.js"
import { actions } from "../../src/scenario/actions.js"
import { observations } from "../../src/scenario/observations.js"
import { successShape } from "../../src/scenario/ResponseShape.js"

/** A step context that records each call, and responds to all calls with a list of one offer. */
const recordCalls = () => {
  const calls: Array<string> = []
  const answering = (method: string, path: string) =>
    Effect.sync(() => {
      calls.push(`${method} ${path.split("?")[0]}`)
      const data = [{ id: "it", ticket_id: "it", status: "open" }]
      return { call: { method, path }, status: 200, headers: {}, body: { data } }
    })
  const context = {
    names: { values: new Map(), now: "" },
    shop: { id: "it", key: "" },
    key: null,
    idempotency_key: null,
    send: answering,
    askSandbox: answering,
    moveClock: () => answering("POST", "/sandbox/clock"),
    receiver: Effect.die("not asked for"),
    trust: () => Effect.void,
    observedCounts: { get: () => 0, set: () => undefined }
  } as unknown as StepContext
  return { calls, context }
}

const rows = [...actions.values(), ...observations.values()].filter(({ endpoint }) => endpoint !== undefined)

/** An argument for actions that take an id, one for those that take fields, and one for those that take a list. */
const ARGUMENTS = ["it", { ticket: "it", client: "it" }, []]

describe("the known shapes of responses to actions (Specification, Commands)", () => {
  it.each(rows.map((row) => [row.name, row] as const))(
    "the shape of %s matches its endpoint's response",
    async (_, row) => {
      const { calls, context } = recordCalls()
      for (const argument of ARGUMENTS) {
        await Effect.runPromiseExit(
          Effect.suspend(() =>
            "observe" in row
              ? Effect.asVoid(row.observe(context))
              : Effect.asVoid(row.perform(argument as never, context))
          )
        )
      }
      const asked = new Set(calls.map((call) => call.replaceAll(/\/(it|%5Bobject%20Object%5D)(?=\/|$)/g, "/:id")))
      expect([...asked]).toContain(row.endpoint?.replace(":n", ":id"))
      expect(() => successShape(row.endpoint ?? "")).not.toThrow()
    }
  )
})
