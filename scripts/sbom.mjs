// Writes a bill of materials (CycloneDX) of what the published packages install: `npm run -s sbom`, or `npm run -s sbom
// -- FILE`.
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { publishedPackages } from "./publishedPackages.mjs"

/** @param {string} path */
const json = (path) => JSON.parse(readFileSync(path, "utf8"))
const project = json("package.json")
const published = new Map(
  publishedPackages
    .map((name) => json(`packages/${name}/package.json`))
    .map((one) => [`${one.name}@${one.version}`, one])
)

const command = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"]
/** @type {{ metadata: any, components: any[], dependencies: { ref: string, dependsOn: string[] }[] }} */
const bill = JSON.parse(execFileSync("npm", command, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }))
const dependsOn = new Map(bill.dependencies.map((dependency) => [dependency.ref, dependency.dependsOn]))

/** @param {string} ref */
const nameOf = (ref) => ref.replace(/@[^@]*$/, "")

/** The dependencies of a package, without the development dependencies of our packages. @param {string} ref */
const broughtBy = (ref) => {
  const all = dependsOn.get(ref) ?? []
  const own = published.get(ref)
  if (own === undefined) return all
  const names = Object.keys({ ...own.dependencies, ...own.optionalDependencies, ...own.peerDependencies })
  const left = Object.keys(own.peerDependenciesMeta ?? {})
  return all.filter((one) => names.includes(nameOf(one)) && !left.includes(nameOf(one)))
}

// The graph is walked from our packages, because `npm sbom --omit dev` leaves out packages that the root also uses to
// build, such as effect.
const refs = new Set(published.keys())
for (const ref of refs) for (const one of broughtBy(ref)) refs.add(one)

bill.metadata.component.name = project.name
bill.components = bill.components.filter((component) => refs.has(component["bom-ref"]))
bill.dependencies = [...refs].map((ref) => ({ ref, dependsOn: [...broughtBy(ref)] }))
for (const component of bill.components) {
  const own = published.get(component["bom-ref"])
  component.scope = "required"
  if (own === undefined) continue
  component.name = own.name
  component.licenses = [{ license: { id: own.license } }]
}

const text = `${JSON.stringify(bill, null, 2)}\n`
const [file] = process.argv.slice(2)
if (file === undefined) process.stdout.write(text)
else writeFileSync(file, text)
