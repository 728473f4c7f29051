import type { Doing } from "@workshop/cli/scenario/Act"
import { acts, views } from "@workshop/cli/scenario/acts"
import { successOf } from "@workshop/cli/scenario/answerShapes"
import type { Call } from "@workshop/cli/scenario/Exchange"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"

/** Notes what is asked for, and answers everything with an offer. */
const noting = () => {
  const calls: Array<string> = []
  const answering = (method: string, path: string) =>
    Effect.sync(() => {
      calls.push(`${method} ${path.split("?")[0]}`)
      const call: Call = { method, path }
      return { call, status: 200, headers: {}, body: { data: [{ id: "it", ticket_id: "it", status: "open" }] } }
    })
  const doing = {
    names: { values: new Map(), now: "" },
    shop: { id: "it", key: "" },
    key: null,
    idempotency_key: null,
    ask: ({ method, path }: Call) => answering(method, path),
    sandbox: (method: string, path: string) => answering(method, `/sandbox${path}`),
    clock: () => answering("POST", "/sandbox/clock"),
    receiver: Effect.die("not asked for"),
    trust: () => Effect.void,
    looked: { at: () => 0, upTo: () => undefined }
  } as unknown as Doing
  return { calls, doing }
}

const rows = [...acts.values(), ...views.values()].filter(({ endpoint }) => endpoint !== undefined)

/** An argument for acts that take an id, and one for those that take fields. */
const ARGUMENTS = ["it", { ticket: "it", client: "it" }]

describe("what is known of the answers to acts (Specification, Commands)", () => {
  it.each(rows.map((row) => [row.name, row] as const))("%s: of the endpoint that it asks", async (_, row) => {
    const { calls, doing } = noting()
    for (const argument of ARGUMENTS) {
      await Effect.runPromiseExit(
        "see" in row ? Effect.asVoid(row.see(doing)) : Effect.asVoid(row.perform(argument as never, doing))
      )
    }
    const asked = new Set(calls.map((call) => call.replaceAll(/\/(it|%5Bobject%20Object%5D)(?=\/|$)/g, "/:id")))
    expect([...asked]).toContain(row.endpoint?.replace(":n", ":id"))
    expect(() => successOf(row.endpoint ?? "")).not.toThrow()
  })
})
