// Finds a Chromium for the tests and pictures that need a real browser.
import { existsSync } from "node:fs"

/** The headless shell comes first, because it draws no window, whose toolbar costs a second of processor time a page. */
const USUAL = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/opt/google/chrome/chrome"
]

/** The path of Chromium, from the variable CHROMIUM or of the system; undefined if there is none. */
export const chromiumPath = () => [process.env.CHROMIUM ?? "", ...USUAL].find((path) => path !== "" && existsSync(path))

/** The message if there is no Chromium, with advice. */
export const NO_CHROMIUM =
  "there is no Chromium here: install one (apt-get install -y chromium-headless-shell, or chromium), or name it in the variable CHROMIUM"
