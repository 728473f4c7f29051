import * as embedding from "@workshop/core"
import * as adapter from "@workshop/core/adapter"
import * as http from "@workshop/core/http"
import * as internal from "@workshop/core/internal"
import * as promise from "@workshop/core/promise"
import * as store from "@workshop/core/store"
import * as testing from "@workshop/core/testing"
import { describe, expect, it } from "vitest"

const entries = { embedding, adapter, http, internal, promise, store, testing }

/** The names that several entries export, with those entries. */
const shared = (): Readonly<Record<string, ReadonlyArray<string>>> => {
  const homes = new Map<string, Array<string>>()
  for (const [entry, module] of Object.entries(entries))
    for (const name of Object.keys(module)) homes.set(name, [...(homes.get(name) ?? []), entry])
  return Object.fromEntries([...homes].filter(([, all]) => all.length > 1))
}

describe("the entries of the core", () => {
  it("the entries of the core export each value once, except those that programs need both with Effect and without it", () => {
    expect(shared()).toEqual({
      internationalPhone: ["embedding", "promise"],
      OptionRefused: ["embedding", "promise"],
      TransactionRefused: ["embedding", "promise"],
      withClient: ["embedding", "promise"]
    })
  })

  it("the entries of the core do not export the checks of requests and the times of the sandbox", () => {
    const names = [...Object.keys(embedding), ...Object.keys(http)]
    expect(names).toEqual(expect.arrayContaining(["Tickets", "mountFetch", "httpApp", "pipeline"]))
    for (const name of ["Checks", "respond", "toIso", "SandboxClock"]) {
      expect(names).not.toContain(name)
      expect(adapter).toHaveProperty(name)
    }
  })
})
