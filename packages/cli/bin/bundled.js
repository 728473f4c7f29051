import { readdirSync, statSync } from "node:fs"

/** The program in one piece. */
export const bundle = new URL("../bundle/bin.js", import.meta.url)

const packages = new URL("../../", import.meta.url)

/** @param {URL} url */
const timeOf = (url) => statSync(url, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Whether the bundle holds what was built last: in a clone `tsc -b` may have built something after it. */
export const isBundled = () => {
  const built = readdirSync(packages).map((name) => timeOf(new URL(`${name}/dist/.tsbuildinfo`, packages)))
  return timeOf(bundle) > Math.max(...built)
}
