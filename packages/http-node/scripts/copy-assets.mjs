// Puts the reader of /docs into the package, so that whoever installs it needs neither its package nor the package's install script.
import { copyFileSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const from = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")))
const to = fileURLToPath(new URL("../assets", import.meta.url))
mkdirSync(to, { recursive: true })
for (const name of [
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css",
  "LICENSE",
  "NOTICE"
]) {
  copyFileSync(join(from, name), join(to, name))
}
