import { type LogLine, start } from "@workshop/core/promise"
import { PgStore } from "@workshop/store-pg"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { connectionFailure, recordServer } from "../../src/connection/FailedServer.js"

const SECRET = "geheim5f1"

describe("a server that cannot be reached", () => {
  it.each([
    ["127.0.0.1:1", "connect ECONNREFUSED 127.0.0.1:1"],
    ["no-such-host.invalid:5433", "getaddrinfo ENOTFOUND no-such-host.invalid:5433"]
  ])(
    "with no server at %s, the operator's errors name the address and the reason but not the password, and readiness hides both",
    async (server, reason) => {
      const url = `postgres://amira:${SECRET}@${server}/shop?sslmode=disable`
      const pool = new pg.Pool({ connectionString: url })
      const logged: Array<LogLine> = []
      for (const options of [{}, { pool }]) {
        const workshop = await start({
          store: PgStore.layer({ url, ...options }),
          background: false,
          logger: (line) => void logged.push(line)
        })
        const shop = { name: "Needle", currency: "EUR", time_zone: "Europe/Paris" }
        for (const refused of [await workshop.shops.list(null, 5), await workshop.shops.create(shop)]) {
          if (refused.ok || refused.refusal._tag !== "StoreUnavailable") throw new Error("It was not refused")
          expect(refused.refusal).toMatchObject({
            reason,
            message: `The store cannot be reached (${reason}). Try again in a moment.`
          })
        }
        // The readiness response goes to load balancers, so it does not contain the address.
        expect(await workshop.ready()).toEqual({
          ready: false,
          reason: "The service cannot reach its store. Try again in a moment."
        })
        await workshop.stop()
      }
      await pool.end()
      const { message } = await Effect.runPromise(Effect.flip(migrate(url)))
      expect(message).toBe(
        `The database cannot be reached (${reason}). Check that the database server is running, and that the store's url has its address.`
      )
      expect(logged.map((line) => line.message)).toContainEqual(expect.stringContaining(`(${reason})`))
      expect(JSON.stringify(logged)).not.toContain(SECRET)
    }
  )

  it("the error names the server after a timeout or if it has several addresses, although Node's error does not name the host", () => {
    const at = (error: Error) => {
      recordServer(error, { host: "db.example", port: 5432 })
      return connectionFailure(new Error("Failed to acquire connection", { cause: error }))
    }
    expect(at(new Error("timeout expired"))).toBe("timeout expired at db.example:5432")
    expect(at(new AggregateError([new Error("connect ECONNREFUSED ::1:5432")]))).toBe("connect ECONNREFUSED ::1:5432")
    expect(at(new Error("connect ENOENT /run/.s.PGSQL.5432"))).toBe("connect ENOENT /run/.s.PGSQL.5432")
    expect(connectionFailure(new Error("another"))).toBe(undefined)
  })
})
