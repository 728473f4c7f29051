// Names in the lock file the binaries of other platforms that `npm install` left out because this machine's registry
// does not have them: `npm ci` counts them and would refuse the lock (npm/cli#9850). Run it after a dependency changed.
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

const { "": root, ...rest } = { ...lock.packages, ...missing }
lock.packages = { "": root, ...Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))) }
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${Object.keys(missing).length} platform packages added to package-lock.json`)
