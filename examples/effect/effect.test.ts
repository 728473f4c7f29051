import { HttpApp } from "@effect/platform"
import { createClient } from "@workshop/client"
import { Effect, ManagedRuntime } from "effect"
import { expect, it } from "vitest"
import { makeApp } from "./app.js"
import { openShop, workshop } from "./workshop.js"

it("an Effect server mounts the API in its router, beside a route on the same services", async () => {
  const runtime = ManagedRuntime.make(workshop)
  const { app, key } = await runtime.runPromise(
    Effect.gen(function* () {
      const { counter, key } = yield* openShop
      return { app: HttpApp.toWebHandler(yield* makeApp(counter)), key }
    })
  )
  const client = createClient({ baseUrl: "http://shop.example/workshop", key, fetch: app })
  expect(await client.tickets.create({ service: "Hem" })).toMatchObject({ ok: true, value: { number: 1 } })
  const at = async (path: string) => (await app(new Request(`http://shop.example${path}`))).text()
  expect(await at("/counter/1")).toBe("Hem: workshop\n")
  expect(await at("/counter/2")).toBe("No such ticket\n")
  expect(await at("/counter/zero")).toBe("No such ticket\n")
  expect(await at("/elsewhere")).toBe("Nothing here\n")
  await runtime.dispose()
})
