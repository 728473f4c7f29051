import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { connect } from "../../src/migrate/Session.js"
import { testDatabase } from "../cluster/TestDatabase.js"

/** Texts of migrations by the names of their files. */
export type Files = Readonly<Record<string, string>>

/** A folder of migrations, gone with the scope. */
export const folderOf = (files: Files) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "workshop-migrations-"))
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

/** A schema of a test database in which nothing was migrated yet: the connection string leads there. */
export const emptySchema = Effect.gen(function* () {
  const { url } = yield* testDatabase
  const session = yield* connect(url)
  yield* session.run("create schema fixture")
  const inside = new URL(url)
  inside.searchParams.set("options", "-c search_path=fixture")
  return { url: inside.href, session: yield* connect(inside.href) }
})
