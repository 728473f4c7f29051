// Packs every package as for publishing, and checks the tarballs with publint and are-the-types-wrong.
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { publishedPackages } from "./publishedPackages.mjs"

/** @typedef {{ name: string, filename: string, files: ReadonlyArray<{ path: string }> }} Packed */

const folder = mkdtempSync(join(tmpdir(), "workshop-pack-"))
/** The packages that must be peer dependencies, because two versions of them would be two separate sets of services. */
const PEERS = ["effect", "@effect/platform"]
/** The packages that must be small, so they are published without sources and source maps. */
const SMALL = ["@workshop/client", "@workshop/webhooks"]
/** The packages that are applications, and so have all their dependencies as regular ones. */
const APPLICATIONS = ["@workshop/cli"]

/** The licenses of third-party code in a package. @type {Record<string, ReadonlyArray<string>>} */
const NOTICES = {
  "@workshop/http-node": ["assets/LICENSE", "assets/rapidoc-min.js.LICENSE.txt"]
}

/** @returns {ReadonlyArray<Packed>} */
const pack = () => {
  const workspaces = publishedPackages.flatMap((name) => ["-w", `packages/${name}`])
  const options = ["pack", "--json", "--pack-destination", folder]
  return JSON.parse(
    execFileSync("npm", [...options, ...workspaces], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  )
}

const root = JSON.parse(readFileSync("package.json", "utf8"))

/**
 * Checks that a package has the license, the repository and the homepage of the project.
 * @param {any} manifest
 * @param {string} name
 */
const origin = ({ homepage, repository, license }, name) => {
  const directory = `packages/${name}`
  const home = root.homepage.replace("#readme", `/tree/main/${directory}#readme`)
  const isSameText = readFileSync(`${directory}/LICENSE`, "utf8") === readFileSync("LICENSE", "utf8")
  return [
    ...(license === root.license && isSameText ? [] : ["the license is not the repository's"]),
    ...(repository?.url === root.repository.url && repository?.directory === directory
      ? []
      : [`repository must be ${root.repository.url} with the directory ${directory}`]),
    ...(homepage === home ? [] : [`homepage must be ${home}`])
  ]
}

/** Checks that the tools do not make. @param {Packed} packed */
const contents = ({ name, files }) => {
  const paths = new Set(files.map(({ path }) => path))
  const complaints = [...paths]
    .filter((path) => /^dist\/.*\.js$/.test(path))
    .flatMap((path) => [
      ...(existsSync(`packages/${name.split("/")[1]}/${path.replace(/^dist/, "src").replace(/\.js$/, ".ts")}`)
        ? []
        : [`${path} has no source any more: remove packages/${name.split("/")[1]}/dist and build`]),
      ...(SMALL.includes(name) ? [".d.ts"] : [".js.map", ".d.ts", ".d.ts.map"])
        .map((ending) => path.replace(/\.js$/, ending))
        .filter((beside) => !paths.has(beside))
        .map((beside) => `${beside} is missing: build`)
    ])
  const manifest = JSON.parse(readFileSync(`packages/${name.split("/")[1]}/package.json`, "utf8"))
  const own = APPLICATIONS.includes(name) ? [] : PEERS.filter((peer) => peer in (manifest.dependencies ?? {}))
  return [
    ...complaints,
    ...own.map((peer) => `${peer} must be a peer`),
    ...(manifest.sideEffects === false ? [] : ["sideEffects must be false"]),
    ...["README.md", "LICENSE", ...(NOTICES[name] ?? [])]
      .filter((path) => !paths.has(path))
      .map((path) => `${path} is missing`),
    ...origin(manifest, name.split("/")[1] ?? "")
  ]
}

/** @param {string} tarball */
const lint = async (tarball) => {
  const { messages, pkg } = await publint({
    pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer },
    strict: true
  })
  return messages.map((message) => `publint: ${formatMessage(message, pkg)}`)
}

/** @param {string} tool @param {ReadonlyArray<string>} args */
const ask = (tool, args) => {
  const { status, stdout, stderr } = spawnSync(join("node_modules/.bin", tool), args, {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" }
  })
  return status === 0 ? [] : [`${tool}:\n${stdout}${stderr}`]
}

try {
  const complaints = []
  for (const packed of pack()) {
    const tarball = join(folder, packed.filename)
    const problems = [
      ...contents(packed),
      ...(await lint(tarball)),
      ...ask("attw", [tarball, "--profile", "esm-only", "--format", "ascii"])
    ]
    complaints.push(...problems.map((complaint) => `${packed.name}: ${complaint}`))
  }
  for (const complaint of complaints) console.error(complaint)
  if (complaints.length > 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true })
}
