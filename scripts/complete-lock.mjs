// Completes the lock file after a change of dependencies. It adds the binaries of other platforms that `npm install`
// left out because this machine's registry does not have them, because `npm ci` would otherwise refuse the lock
// (npm/cli#9850). It also adds the missing `integrity` of entries from the registry, with which `npm ci` verifies a
// download.
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"

const PLATFORM =
  /(android|darwin|freebsd|linux|openbsd|openharmony|win32)-(arm64|arm|x64|ia32|ppc64|riscv64|s390x|loong64)(?:-(\w+))?$/
const EXACT = /^[\d.]+$/

const path = new URL("../package-lock.json", import.meta.url)
const lock = JSON.parse(readFileSync(path, "utf8"))

/** @type {Record<string, unknown>} */
const missing = {}
for (const { optionalDependencies = {}, dev, license = "MIT" } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const [, os, cpu, abi] = PLATFORM.exec(name) ?? []
    const place = `node_modules/${name}`
    if (os === undefined || place in lock.packages || !EXACT.test(String(version))) continue
    const libc = os === "linux" && abi !== undefined ? { libc: [abi.includes("musl") ? "musl" : "glibc"] } : {}
    missing[place] = { version, cpu: [cpu], ...(dev ? { dev } : {}), ...libc, license, optional: true, os: [os] }
  }
}

/**
 * The hash of a package in the registry; undefined if this registry does not have the package.
 * @param {string} place
 * @param {string} version
 */
const integrityOf = (place, version) => {
  const name = place.slice(place.lastIndexOf("node_modules/") + 13)
  const { status, stdout } = spawnSync("npm", ["view", `${name}@${version}`, "dist.integrity"], { encoding: "utf8" })
  const [hash] = status === 0 ? (/^sha512-\S+$/m.exec(stdout) ?? []) : []
  return hash
}

const { "": root, ...rest } = { ...lock.packages, ...missing }
/** @type {Array<string>} */
const unknown = []
for (const [place, entry] of Object.entries(rest)) {
  if (!place.includes("node_modules/") || entry.link || entry.integrity !== undefined) continue
  const integrity = integrityOf(place, entry.version)
  if (integrity === undefined) unknown.push(place)
  else rest[place] = { ...entry, integrity }
}
lock.packages = { "": root, ...Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))) }
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${Object.keys(missing).length} platform packages added to package-lock.json`)
if (unknown.length > 0) {
  console.error(
    `This registry does not have ${unknown.length} of them, so they stay without integrity: ${unknown.join(", ")}`
  )
  console.error("Run this again on a machine that reaches the public registry, and commit the lock file.")
  process.exitCode = 1
}
