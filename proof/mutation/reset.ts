import fc from "fast-check"
import { inject, vi } from "vitest"

declare module "vitest" {
  interface ProvidedContext {
    readonly globalNamespace: string
    readonly mode: string
    readonly mutantActivation: string
    readonly activeMutant: string
  }
}

const kept = globalThis as unknown as {
  modulesOf?: string
  readonly [stryker: string]: unknown
}

// The thread stays from one mutant to the next. A mutated table is made when its module is evaluated, so our modules are evaluated again
// with such a mutant, and again after it; for all other mutants they stay. The mutant that was active before is switched off.
const isStatic = inject("mode") === "mutant" && inject("mutantActivation") === "static"
const modules = isStatic ? inject("activeMutant") : inject("mode")
if (!isStatic) Object.assign(kept[inject("globalNamespace")] ?? {}, { activeMutant: undefined })
if (kept.modulesOf !== modules) vi.resetModules()
kept.modulesOf = modules

// The same values each time, so that the same mutants are found each time.
fc.configureGlobal({ seed: 1, numRuns: 40 })
