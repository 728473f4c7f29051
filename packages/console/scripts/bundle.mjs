// Bundles the pages of app/ into assets/: the console that a server sends, and the viewer that reports contain. The
// bundles load nothing from other servers.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { threadId } from "node:worker_threads"
import { build } from "esbuild"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The license of a package that is bundled. @param {string} name */
const licenseOf = (name) => {
  const places = createRequire(import.meta.url).resolve.paths(name) ?? []
  const folder = places.map((place) => join(place, name)).find((place) => existsSync(place)) ?? ""
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`
}

/**
 * Writes a file only if its content differs, and atomically, because other test files may be reading it.
 * @param {string} path @param {Uint8Array} content
 */
const put = (path, content) => {
  if (existsSync(path) && readFileSync(path).equals(content)) return
  const whole = `${path}.${process.pid}-${threadId}`
  writeFileSync(whole, content)
  renameSync(whole, path)
}

/** Bundles the pages into a folder. @param {string} [folder] */
export const bundle = async (folder = join(root, "assets")) => {
  mkdirSync(folder, { recursive: true })
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [
      { in: "app/main.tsx", out: "console" },
      { in: "app/console.css", out: "console" },
      { in: "app/report.tsx", out: "report" },
      { in: "app/report.css", out: "report" }
    ],
    outdir: folder,
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2022", "chrome123", "firefox120", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning"
  })
  for (const { path, contents } of outputFiles) put(join(folder, basename(path)), contents)
  put(join(folder, "console.html"), readFileSync(join(root, "app/console.html")))
  const licenses = ["preact", "@preact/signals", "@preact/signals-core"].map(licenseOf)
  put(join(folder, "LICENSES.txt"), Buffer.from(licenses.join("\n---\n\n")))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
