/** Entry `@workshop/console`: the built pages of the tester's console, to be served by a sandbox. */

/** The folder of the built pages. */
export const consoleAssets = new URL("../assets/", import.meta.url)
