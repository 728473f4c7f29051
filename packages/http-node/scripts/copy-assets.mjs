// Copies RapiDoc, which /docs uses, into this package, so that an installation needs neither RapiDoc's package nor its
// dependencies.
import { copyFileSync, mkdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const from = dirname(fileURLToPath(import.meta.resolve("rapidoc/dist/rapidoc-min.js")))
const to = fileURLToPath(new URL("../assets", import.meta.url))
rmSync(to, { recursive: true, force: true })
mkdirSync(to)
for (const [name, path] of [
  ["rapidoc-min.js", "rapidoc-min.js"],
  ["rapidoc-min.js.LICENSE.txt", "rapidoc-min.js.LICENSE.txt"],
  ["LICENSE", "../LICENSE.txt"]
]) {
  copyFileSync(join(from, path), join(to, name))
}
