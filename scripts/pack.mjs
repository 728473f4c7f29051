// Creates the tarballs of all published packages in .workshop/packages: npm run pack.
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { basename, resolve } from "node:path"
import { publishedPackages } from "./publishedPackages.mjs"

const FOLDER = ".workshop/packages"
const KILOBYTE = 1_000

mkdirSync(FOLDER, { recursive: true })
const workspaces = publishedPackages.flatMap((name) => ["-w", `packages/${name}`])
/** @type {ReadonlyArray<{ filename: string, size: number }>} */
const packed = JSON.parse(
  // npm's notices would list every file.
  execFileSync("npm", ["pack", "--json", "--silent", "--pack-destination", FOLDER, ...workspaces], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"]
  })
)
for (const { filename, size } of packed) console.log(`${FOLDER}/${filename}  ${Math.ceil(size / KILOBYTE)} kB`)
const server = ["client", "webhooks", "core", "console", "http-node", "store-memory", "store-pg"]
const paths = packed
  .filter(({ filename }) => server.some((name) => filename.startsWith(`workshop-${name}-`)))
  .map(({ filename }) => `../${basename(resolve("."))}/${FOLDER}/${filename}`)
console.log(`Packed ${packed.length} packages. To embed the service, run in a folder beside this one:`)
console.log(`npm install effect@3 @effect/platform@0.97 ${paths.join(" ")}`)
