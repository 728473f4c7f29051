// Where a Chromium is, for the tests and pictures that need a real browser.
import { existsSync } from "node:fs"

const USUAL = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/opt/google/chrome/chrome"]

/** The program of a Chromium: that of the variable CHROMIUM, else the system's; undefined where there is none. */
export const chromiumPath = () => [process.env.CHROMIUM ?? "", ...USUAL].find((path) => path !== "" && existsSync(path))

/** Says what to do where there is no Chromium. */
export const NO_CHROMIUM =
  "there is no Chromium here: install one (apt-get install -y chromium), or name it in the variable CHROMIUM"
