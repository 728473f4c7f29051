// Bundles the program with all its modules, because a start without the bundle spends most of its time on reading a
// thousand small files. `bin/workshop.js` runs the bundle if it is newer than the modules that `tsc -b` built.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { isBundled } from "../bin/bundled.js"

if (isBundled()) process.exit()
const root = fileURLToPath(new URL("..", import.meta.url))
const bundle = join(root, "bundle")

/** @param {string} folder @returns {{ name?: string, version?: string, license?: string }} */
const manifestIn = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** The folder of the package that a file belongs to. @param {string} folder @returns {string} */
const packageOf = (folder) =>
  existsSync(join(folder, "package.json")) && manifestIn(folder).name !== undefined
    ? folder
    : packageOf(dirname(folder))

/**
 * Our packages read files next to their modules, such as migrations. In the bundle, the paths of these files begin at
 * the folder of the package.
 * @type {import("esbuild").Plugin}
 */
const filesBesideModules = {
  name: "files beside modules",
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]dist[\\/].*\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8")
      if (!text.includes("import.meta.url")) return undefined
      const folder = packageOf(dirname(path))
      const { name } = manifestIn(folder)
      const manifest =
        name === "@workshop/cli"
          ? 'new URL("../package.json", import.meta.url)'
          : `import.meta.resolve("${name}/package.json")`
      const place = relative(folder, path).split(sep).join("/")
      return { contents: text.replaceAll("import.meta.url", `new URL("./${place}", ${manifest}).href`) }
    })
  }
}

rmSync(bundle, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ["dist/bin.js"],
  outdir: bundle,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.20",
  external: ["pg-native"],
  // Bundled CommonJS modules need a `require`.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"\nconst require = requireFrom(import.meta.url)'
  },
  plugins: [filesBesideModules],
  metafile: true,
  logLevel: "warning"
})

// The license of each third-party package must be distributed with its code.
const others = new Set(
  Object.keys(metafile.inputs)
    .filter((path) => path.includes("node_modules/"))
    .map((path) => packageOf(dirname(join(root, path))))
)
const notices = [...others].sort().map((folder) => {
  const { name, version, license } = manifestIn(folder)
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
  const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), "utf8").trim()
  return `${name} ${version}\n\n${text}\n`
})
writeFileSync(join(bundle, "LICENSES.txt"), notices.join("\n---\n\n"))
