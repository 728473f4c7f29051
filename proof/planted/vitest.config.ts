import { defineConfig, mergeConfig } from "vitest/config"
import base from "../../vitest.config.js"
import { bugOf, planted, root } from "./plant.mjs"

// Runs the project's tests with a planted bug: PLANTED=id npx vitest run --config proof/planted/vitest.config.ts
// packages/core
const bug = process.env.PLANTED ? bugOf(process.env.PLANTED) : undefined
const planting = {
  name: "planting",
  enforce: "pre" as const,
  transform: (text: string, path: string) =>
    bug !== undefined && path === root + bug.file ? planted(bug, text) : undefined
}

const { projects = [], ...test } = base.test ?? {}
export default mergeConfig(
  { test: { ...test, root } },
  defineConfig({
    plugins: [planting],
    test: {
      projects: projects.map((project) => (typeof project === "object" ? { ...project, plugins: [planting] } : project))
    }
  })
)
