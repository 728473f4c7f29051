// Writes packages/store-pg/src/migrate/generated/sql.ts with the migrations and the rights of the roles, because
// bundlers include only code. It runs before the sources are built.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"

const PACKAGE = "packages/store-pg"
const folder = `${PACKAGE}/src/migrate/generated`

/** @param {string} text */
const literal = (text) => `\`${text.replaceAll("\r\n", "\n").replaceAll(/[\\`]|\$\{/g, "\\$&")}\``

const files = readdirSync(`${PACKAGE}/migrations`)
  .filter((name) => name.endsWith(".sql"))
  .sort()
const migrations = files.map(
  (name) => `  ${JSON.stringify(name)}: ${literal(readFileSync(`${PACKAGE}/migrations/${name}`, "utf8"))}`
)

mkdirSync(folder, { recursive: true })
writeFileSync(
  `${folder}/sql.ts`,
  `// Written by \`npm run codegen\` from packages/store-pg/migrations and roles.sql; change those instead.

/** The texts of the migrations, by the names of their files. */
export const migrations: Readonly<Record<string, string>> = {
${migrations.join(",\n")}
}

/** The text of \`roles.sql\`. */
export const roles = ${literal(readFileSync(`${PACKAGE}/roles.sql`, "utf8"))}
`
)
