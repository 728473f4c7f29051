import { readFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { receive, sign } from "@workshop/webhooks"
import express from "express"
import { expect, it } from "vitest"

const page = readFileSync(new URL("../../docs/receive-webhooks.md", import.meta.url), "utf8")
const block = page.split("```").find((part) => part.startsWith("ts\n") && part.includes("express.raw("))!
const program = block.slice("ts\n".length).replace(/^import .*$/gm, "")

it("the Express receiver of docs/receive-webhooks.md accepts a signed delivery, and responds 400 to a request without a body", async () => {
  const app: express.Express = new Function("receive", "express", "process", `${program}; return app`)(
    receive,
    express,
    {
      env: { WORKSHOP_SECRET: "whsec_test" }
    }
  )
  const server = app.listen(0)
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
    const body = '{"id":"0198c5f2-8a10-7001-b3c1-5d2f9a7e4b60","type":"ping","data":{}}'
    const headers = { "content-type": "application/json", "service-signature": await sign(body, "whsec_test") }
    const statusOf = async (request: RequestInit) => (await fetch(url, { method: "POST", ...request })).status
    expect(await statusOf({ body, headers })).toBe(200)
    expect(await statusOf({ body: "hello", headers: { "content-type": "text/plain" } })).toBe(400)
    expect(await statusOf({})).toBe(400)
  } finally {
    server.close()
  }
})
