/**
 * Entry `@workshop/console`: for programs that serve the tester's console, and for reports. It has the built pages of
 * the console, and the viewer that is embedded in reports.
 *
 * @example
 * ```ts
 * import { consoleAssets } from "@workshop/console"
 * ```
 *
 * @packageDocumentation
 */

import { readFileSync } from "node:fs"

/** The folder of the built pages. */
export const consoleAssets = new URL("../assets/", import.meta.url)

const readAsset = (name: string): string => readFileSync(new URL(name, consoleAssets), "utf8")

/**
 * The viewer of reports: the style and the script that are embedded in a page, so that it can be filtered, searched and
 * unfolded.
 */
export const reportViewer = (): { readonly style: string; readonly script: string } => ({
  style: readAsset("report.css"),
  // The text is escaped, because it would end the script element.
  script: readAsset("report.js").replaceAll("</script", "<\\/script")
})
