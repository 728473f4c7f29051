import { readFileSync } from "node:fs"
import { context } from "esbuild"
import { publishedPackages } from "../../scripts/publishedPackages.mjs"
import { planted, root } from "./plant.mjs"

/**
 * The source of every entry point of our packages, by the name under which it is imported.
 * @type {ReadonlyMap<string, string>}
 */
const entryPoints = new Map(
  publishedPackages.flatMap((name) => {
    /** @type {{ exports: Record<string, { default?: string }> }} */
    const { exports } = JSON.parse(readFileSync(`${root}packages/${name}/package.json`, "utf8"))
    return Object.entries(exports).flatMap(([entry, { default: built }]) =>
      built === undefined
        ? []
        : [
            /** @type {const} */ ([
              `@workshop/${name}${entry.slice(1)}`,
              `${root}packages/${name}/${built.replace("./dist/", "src/").replace(/\.js$/, ".ts")}`
            ])
          ]
    )
  })
)

/**
 * Creates a bundler of a program that can bundle it repeatedly, each time with another bug or without one.
 * @param {string} entry @param {string} outfile
 */
export const plantingBuild = async (entry, outfile) => {
  /** @type {import("./Bug.mjs").Bug | null} */
  let bug = null
  /** @type {import("esbuild").Plugin} */
  const planting = {
    name: "planting",
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^@workshop\// }, ({ path }) => {
        const source = entryPoints.get(path)
        return source === undefined ? undefined : { path: source }
      })
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
        kind === "entry-point" || path.startsWith("@workshop/") ? undefined : { path, external: true }
      )
      onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]src[\\/].*\.ts$/ }, ({ path }) =>
        bug !== null && path === root + bug.file
          ? { contents: planted(bug, readFileSync(path, "utf8")), loader: "ts" }
          : undefined
      )
    }
  }
  const builder = await context({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.20",
    plugins: [planting],
    logLevel: "silent"
  })
  return {
    /** @param {import("./Bug.mjs").Bug | null} next */
    with: async (next) => {
      bug = next
      await builder.rebuild()
    },
    end: () => builder.dispose()
  }
}
