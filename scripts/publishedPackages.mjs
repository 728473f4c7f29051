import { readFileSync } from "node:fs"

/** The folders in `packages` of the published packages, each after its dependencies. @type {ReadonlyArray<string>} */
export const publishedPackages = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8")
).workspaces.flatMap((/** @type {string} */ folder) => (folder.startsWith("packages/") ? [folder.slice(9)] : []))
