import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { account, installed, NOT_INSTALLED } from "../cluster/InstalledPostgres.js"
import { create, node, runTest } from "../nodes/Node.js"

/** A self-signed certificate for `localhost`, and a key file with the permissions that the server requires. */
const certificate = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "workshop-tls-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  ),
  (folder) => {
    const { uid, gid } = account()
    const files = { cert: join(folder, "server.crt"), key: join(folder, "server.key") }
    const wanted = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2", "-nodes"]
    const certificateArgs = ["-x509", "-newkey", "rsa:2048", "-keyout", files.key, "-out", files.cert]
    execFileSync("openssl", ["req", ...certificateArgs, ...wanted], { stdio: "ignore" })
    chmodSync(folder, 0o755)
    chmodSync(files.key, 0o600)
    if (uid !== undefined) for (const file of Object.values(files)) chownSync(file, uid, gid!)
    return files
  }
)

/** Connects to `url`. Returns whether the connection is encrypted, or the error's message. */
const connection = (url: string) =>
  Effect.flatMap(openMigrationSession(url), (session) =>
    session.run<{ ssl: boolean }>("select ssl from pg_stat_ssl where pid = pg_backend_pid()")
  ).pipe(
    Effect.scoped,
    Effect.map(([row]) => row?.ssl),
    Effect.catchAll(({ message }) => Effect.succeed(message))
  )

describe.skipIf(NOT_INSTALLED !== "")(`TLS to an installed Postgres (docs/operating.md)${NOT_INSTALLED}`, () => {
  it(
    "each sslmode makes its documented checks, an error says what to check, and a node works over TLS",
    { timeout: 60_000 },
    () =>
      runTest(
        Effect.gen(function* () {
          const { cert, key } = yield* certificate
          const { run, start } = yield* installed
          run("initdb", "-D", "data", "-U", "workshop", "-A", "trust", "-E", "UTF8", "--locale=C")
          const port = yield* start("data", { ssl: "on", ssl_cert_file: cert, ssl_key_file: key })
          const at = (host: string, query: string) => `postgres://workshop@${host}:${port}/postgres?${query}`
          const ca = `sslrootcert=${encodeURIComponent(cert)}`

          expect(yield* connection(at("127.0.0.1", "sslmode=disable"))).toBe(false)
          expect(yield* connection(at("127.0.0.1", "sslmode=require"))).toBe(true)
          expect(yield* connection(at("127.0.0.1", `sslmode=verify-ca&${ca}`))).toBe(true)
          expect(yield* connection(at("localhost", `sslmode=verify-full&${ca}`))).toBe(true)
          // The certificate does not contain the IP address, and no authority that the system trusts has signed it.
          expect(yield* connection(at("127.0.0.1", `sslmode=verify-full&${ca}`))).toMatch(
            /^The database's certificate or encryption could not be verified \(.*127\.0\.0\.1.*\). In the store's url, check sslmode, .* name the host that the url names/
          )
          expect(yield* connection(at("localhost", "sslmode=verify-full"))).toMatch(
            /^The database's certificate or encryption could not be verified \(self-signed certificate\)\. .* sslrootcert is the authority/
          )

          const url = at("localhost", `sslmode=verify-full&${ca}`)
          yield* migrate(url)
          const ports = yield* node({ url, lanes: 1 })
          const shop = yield* Effect.provide(openShop(), ports)
          expect(yield* Effect.provide(create(shop.id), ports)).toBe(1)
          const session = yield* openMigrationSession(at("127.0.0.1", "sslmode=disable"))
          const [open] = yield* session.run<{ clear: number; encrypted: number }>(
            `select count(*) filter (where not s.ssl)::integer as clear, count(*) filter (where s.ssl)::integer as encrypted
          from pg_stat_activity a join pg_stat_ssl s using (pid) where a.application_name like 'workshop %' and a.pid <> pg_backend_pid()`
          )
          expect(open!.clear).toBe(0)
          expect(open!.encrypted).toBeGreaterThan(0)

          run("initdb", "-D", "clear", "-U", "workshop", "-A", "trust", "-E", "UTF8", "--locale=C")
          const clear = yield* start("clear")
          expect(yield* connection(`postgres://workshop@127.0.0.1:${clear}/postgres?sslmode=require`)).toMatch(
            /^The database's certificate or encryption could not be verified \(The server does not support SSL connections\)\. In the store's url, check sslmode/
          )
        })
      )
  )
})
