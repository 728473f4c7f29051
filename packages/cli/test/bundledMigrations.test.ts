import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { build } from "esbuild"
import { expect, it } from "vitest"
import { PACKAGE_MIGRATIONS } from "../../store-pg/src/migrate/Migration.js"
import { testDatabase } from "../../store-pg/test/cluster/TestDatabase.js"
import { build as builtPackages } from "./Workshop.js"

const PROGRAM = `import { Effect } from "effect"
import { migrate, rolesSql } from "@workshop/store-pg/migrate"
const at = { schema: "bundled" }
Effect.runPromise(migrate(process.argv[2], at)).then(({ length }) => console.log(length, rolesSql(at).includes('"bundled".ticket')))`

it("a program bundled into one file contains the migrations and the roles", { timeout: 60_000 }, () =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(testDatabase, ({ url }) =>
        Effect.promise(async () => {
          await builtPackages()
          const folder = mkdtempSync(join(tmpdir(), "workshop-bundle-"))
          const outfile = join(folder, "main.cjs")
          const stdin = { contents: PROGRAM, resolveDir: import.meta.dirname }
          await build({ stdin, outfile, bundle: true, platform: "node", format: "cjs", external: ["pg-native"] })
          const said = execFileSync(process.execPath, [outfile, url], { cwd: folder, encoding: "utf8" })
          rmSync(folder, { recursive: true })
          // Only the last line counts: the others warn that the test database already has a schema with tables.
          expect(said.trim().split("\n").at(-1)).toBe(`${PACKAGE_MIGRATIONS.length} true`)
        })
      )
    )
  )
)
