import type { storeContract } from "@workshop/core/testing"
import { describe } from "vitest"
import { RUNS_ALL } from "../../../test/runsAll.js"

type Subject = keyof typeof storeContract

/**
 * A `describe` for the contract on a variant of the Postgres store, which omits subjects whose code is that of the plain store:
 * statements.test.ts runs all of them there. Where every test runs it omits none.
 */
export const describeBut = (...alike: ReadonlyArray<Subject>) => {
  const omitted: ReadonlySet<string> = new Set(RUNS_ALL ? [] : alike)
  return (name: string, body: () => void) => (omitted.has(name) ? undefined : describe(name, body))
}
