import { readFileSync } from "node:fs"
import { openShop } from "@workshop/core/testing/Fixtures"
import { migrate } from "@workshop/store-pg/migrate/Migrator"
import { connect, type Session } from "@workshop/store-pg/migrate/Session"
import { Effect, Exit, Fiber, Schedule } from "effect"
import { describe, expect, it } from "vitest"
import { installed, NOT_INSTALLED } from "../cluster/InstalledPostgres.js"
import { create, node, numbers, testing, upTo } from "../nodes/Node.js"

const LONG = { timeout: 180_000 }
const patiently = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(600))

const urlOf = (...ports: ReadonlyArray<number>) =>
  `postgres://workshop@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/postgres`

/** A migrated Postgres, with the programs beside it. */
const primary = Effect.gen(function* () {
  const { run, start } = yield* installed
  run("initdb", "-D", "primary", "-U", "workshop", "-A", "trust", "-E", "UTF8", "--locale=C")
  const port = yield* start("primary")
  yield* migrate(urlOf(port))
  return { run, start, port, session: yield* connect(urlOf(port)) }
})

describe.skipIf(NOT_INSTALLED !== "")(`on an installed Postgres (docs/operating.md)${NOT_INSTALLED}`, () => {
  it(
    "a synchronous standby that is promoted has all that was answered, and the nodes find it by themselves",
    LONG,
    () =>
      testing(
        Effect.gen(function* () {
          const { run, start, port, session } = yield* primary
          run(
            "pg_basebackup",
            "-h",
            "127.0.0.1",
            "-p",
            String(port),
            "-U",
            "workshop",
            "-D",
            "standby",
            "-R",
            "-c",
            "fast"
          )
          const standby = yield* start("standby")
          yield* session.run("alter system set synchronous_standby_names = '*'")
          yield* session.run("select pg_reload_conf()")
          yield* session
            .run("select from pg_stat_replication where sync_state = 'sync'")
            .pipe(Effect.repeat({ until: (rows) => rows.length > 0 }))

          // The standby is named first: a server that only reads is passed over.
          const ports = yield* node({ url: urlOf(standby, port), lanes: 1 })
          const shop = yield* Effect.provide(openShop(), ports)
          expect(yield* Effect.provide(create(shop.id), ports)).toBe(1)
          const load = yield* Effect.fork(
            Effect.forEach(upTo(40), () => Effect.exit(Effect.provide(create(shop.id), ports)), { concurrency: 4 })
          )
          yield* Effect.provide(numbers(shop.id), ports).pipe(Effect.repeat({ until: (made) => made.length > 5 }))
          run("pg_ctl", "-D", "primary", "-m", "immediate", "stop")
          run("pg_ctl", "-D", "standby", "-w", "promote")

          const answered = (yield* Fiber.join(load)).filter(Exit.isSuccess).map(({ value }) => value)
          const after = yield* Effect.provide(create(shop.id), ports).pipe(Effect.retry(patiently))
          const stored = yield* Effect.provide(numbers(shop.id), ports).pipe(Effect.retry(patiently))
          expect(stored).toEqual(upTo(after))
          expect([...answered, after].filter((number) => !stored.includes(number))).toEqual([])
          expect(new Set(answered).size).toBe(answered.length)
        })
      )
  )

  it("the documented dump leaves nothing out, and carries neither counters nor receipts over", LONG, () =>
    testing(
      Effect.gen(function* () {
        const { run, port, session } = yield* primary
        const ports = yield* node({ url: urlOf(port), lanes: 1 })
        const shop = yield* Effect.provide(openShop(), ports)
        for (const n of upTo(3)) expect(yield* Effect.provide(create(shop.id), ports)).toBe(n)
        yield* session.run("insert into rate_limit values ('requests_per_minute', 'a key', 1, 0)")

        const page = readFileSync(new URL("../../../../docs/operating.md", import.meta.url), "utf8")
        const [, flags] = /^pg_dump .*?(-Fc .*)-f workshop\.dump workshop$/m.exec(page)!
        const here = ["-h", "127.0.0.1", "-p", String(port), "-U", "workshop"]
        run("pg_dump", ...here, ...flags!.trim().split(" "), "-f", "workshop.dump", "postgres")
        run("createdb", ...here, "restored")
        run("pg_restore", ...here, "--no-owner", "--exit-on-error", "-d", "restored", "workshop.dump")

        const restored = yield* connect(urlOf(port).replace(/postgres$/, "restored"))
        const kept = yield* counts(restored)
        const { rate_limit, batch_receipt, ...all } = yield* counts(session)
        expect([rate_limit, batch_receipt]).toEqual([1, 1])
        expect(kept).toEqual({ ...all, rate_limit: 0, batch_receipt: 0 })
        const again = yield* node({ url: urlOf(port).replace(/postgres$/, "restored"), lanes: 1 })
        expect(yield* Effect.provide(create(shop.id), again)).toBe(4)
      })
    )
  )
})

/** How many rows each table has. */
const counts = (session: Session) =>
  Effect.gen(function* () {
    const tables = yield* session.run<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1"
    )
    const found: Record<string, number> = {}
    for (const { name } of tables)
      found[name] = (yield* session.run<{ n: number }>(`select count(*)::integer as n from ${name}`))[0]!.n
    return found
  })
