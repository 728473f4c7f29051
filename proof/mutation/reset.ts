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

const globalState = globalThis as unknown as {
  modulesOf?: string
  readonly [stryker: string]: unknown
}

// All mutants run in one thread. A mutant in a table has an effect only when its module is evaluated, so the modules
// are reset before and after such a mutant. For all other mutants they stay loaded. The mutant that was active before
// is deactivated.
const isStatic = inject("mode") === "mutant" && inject("mutantActivation") === "static"
const modules = isStatic ? inject("activeMutant") : inject("mode")
if (!isStatic) Object.assign(globalState[inject("globalNamespace")] ?? {}, { activeMutant: undefined })
if (globalState.modulesOf !== modules) vi.resetModules()
globalState.modulesOf = modules

// The properties use the same values in each run, so that each run kills the same mutants.
fc.configureGlobal({ seed: 1, numRuns: 40 })
