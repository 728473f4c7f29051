import { execFileSync } from "node:child_process"
import * as embedding from "@workshop/core"
import * as http from "@workshop/core/http"
import * as internal from "@workshop/core/internal"
import * as internalHttp from "@workshop/core/internal/http"
import * as internalTerminal from "@workshop/core/internal/terminal"
import * as promise from "@workshop/core/promise"
import * as store from "@workshop/core/store"
import * as testing from "@workshop/core/testing"
import { describe, expect, it } from "vitest"

const entries = { embedding, http, internal, internalHttp, internalTerminal, promise, store, testing }

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

  it("only the internal entries export the checks of requests and the conversion of instants", () => {
    const names = [embedding, http, promise, store, testing].flatMap(Object.keys)
    expect(names).toEqual(expect.arrayContaining(["Tickets", "mountFetch", "httpApp", "pipeline"]))
    for (const name of ["Checks", "respond", "toIso"]) {
      expect(names).not.toContain(name)
      expect({ ...internal, ...internalHttp }).toHaveProperty(name)
    }
  })

  it("the entries for stores and the internal entry do not load @effect/platform, which takes half a second", () => {
    const hook =
      "export const resolve = (name, from, next) => (name.startsWith('@effect/platform') && console.log(name), next(name, from))"
    const program = `
      import { register } from "node:module"
      register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hook)}))
      for (const entry of ["internal", "store", "testing"]) await import("@workshop/core/" + entry)
      console.log("loaded")`
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" })
    expect(printed.trim()).toBe("loaded")
  })
})
