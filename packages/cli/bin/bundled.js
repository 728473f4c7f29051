import { readdirSync, statSync } from "node:fs"

/** The bundled program. */
export const bundle = new URL("../bundle/bin.js", import.meta.url)

const packages = new URL("../../", import.meta.url)

/** @param {URL} url */
const timeOf = (url) => statSync(url, { throwIfNoEntry: false })?.mtimeMs ?? 0

/**
 * True if the bundle is newer than the built modules. In a clone, `tsc -b` may have built a module after the bundle.
 */
export const isBundled = () => {
  const built = readdirSync(packages).map((name) => timeOf(new URL(`${name}/dist/.tsbuildinfo`, packages)))
  return timeOf(bundle) > Math.max(...built)
}
