import { type MountOptions, mountFetch } from "@workshop/core/http"
import type { PromiseWorkshop } from "@workshop/core/promise"
import { Hono } from "hono"

/**
 * A Hono app with the API under `/workshop`. The mount uses only web standards, so it runs on every platform of Hono.
 */
export const createApp = (workshop: PromiseWorkshop, options: MountOptions<Request> = {}): Hono => {
  const app = new Hono()
  app.get("/", (context) => context.text("A shop's own page\n"))
  // Hono removes the path, so the mount needs no prefix.
  app.mount("/workshop", mountFetch(workshop, options))
  return app
}
