import { HttpApi } from "@effect/platform"
import { SandboxApi } from "@workshop/http-node/sandbox"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { Sandbox } from "./Sandbox.js"

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await Sandbox.open()
})

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
}
interface Document {
  readonly openapi: string
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

const get = (bearer?: string) =>
  sandbox.runtime.runPromise(
    sandbox.pipeline({
      method: "GET",
      path: "/sandbox/openapi.json",
      query: "",
      repeats: () => false,
      header: (name) => (name === "authorization" && bearer !== undefined ? `Bearer ${bearer}` : undefined),
      address: "192.0.2.1",
      body: () => Effect.succeed(new Uint8Array())
    })
  )
const served = async () => JSON.parse(String((await get()).body)) as Document

describe("the OpenAPI document of the sandbox", () => {
  it("the sandbox serves its OpenAPI document, which contains its own URL", async () => {
    expect(await served()).toMatchObject({ openapi: "3.1.0", servers: [{ url: "/" }] })
  })

  it("reading the document requires the token, as every call does", async () => {
    const open = sandbox
    const token = "t0ken".repeat(7)
    sandbox = await Sandbox.open({ token })
    expect([(await get()).status, (await get(token)).status]).toEqual([401, 200])
    sandbox = open
  })

  it("the document describes every call of the sandbox, each with a unique operation id", async () => {
    const { paths } = await served()
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ call: `${method} ${path}`, ...operation }))
    )
    const calls: Array<string> = []
    HttpApi.reflect(SandboxApi, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint }) => {
        calls.push(`${endpoint.method.toLowerCase()} ${endpoint.path.replaceAll(/:(\w+)/g, "{$1}")}`)
      }
    })
    expect(operations.map(({ call }) => call).sort()).toEqual(calls.sort())
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(calls.length)
    for (const { call, summary, description } of operations) {
      expect([call, summary, description]).toEqual([call, expect.stringMatching(/\w/), expect.stringMatching(/\.$/)])
    }
  })

  it("the document explains replaces_before of a rotation", async () => {
    const { paths } = await served()
    expect(JSON.stringify(paths["/sandbox/shops/{id}/webhook/rotate"])).toContain(
      "This is the time until which that secret would have signed"
    )
  })

  it("the document has the schemas of the contract: bodies refuse unknown fields, and tickets have the same schema as in the API", async () => {
    const { schemas } = (await served()).components
    expect(schemas.ShopPatchInput).toMatchObject({ additionalProperties: false })
    expect(schemas.QuoteInput).toMatchObject({ properties: { price_minor: { format: "int64" } } })
    expect(schemas.Ticket).toMatchObject({ properties: { number: { minimum: 1, maximum: 9999 } } })
  })
})
