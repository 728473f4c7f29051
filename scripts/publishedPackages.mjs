import { readFileSync } from "node:fs"

/** The folders below `packages` of what is published, in the order in which they need each other. @type {ReadonlyArray<string>} */
export const publishedPackages = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8")
).workspaces.flatMap((/** @type {string} */ folder) => (folder.startsWith("packages/") ? [folder.slice(9)] : []))
