import type { storeContract } from "@workshop/core/testing"
import { describe } from "vitest"
import { RUNS_ALL } from "../../../test/runsAll.js"

type Subject = keyof typeof storeContract

/**
 * A `describe` for the contract on a variant of the Postgres store. It skips the subjects `alike`, whose code is the
 * same as in the plain store, on which statements.test.ts runs all subjects. It skips none if the environment asks for
 * every test.
 */
export const describeExceptSubjects = (...alike: ReadonlyArray<Subject>) => {
  const omitted: ReadonlySet<string> = new Set(RUNS_ALL ? [] : alike)
  return (name: string, body: () => void) => (omitted.has(name) ? undefined : describe(name, body))
}
