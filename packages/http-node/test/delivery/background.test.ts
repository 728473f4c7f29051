import { createServer, type Server, type ServerResponse } from "node:http"
import { type LogLine, type PromiseWorkshop, start } from "@workshop/core/promise"
import * as NodeSender from "@workshop/http-node/sender"
import * as MemoryStore from "@workshop/store-memory"
import { afterEach, beforeEach, expect, it } from "vitest"

/** The webhook receiver, in the same program. It responds only when the test ends the response. */
let server: Server
let port = 0
const requests: Array<ServerResponse> = []
const lines: Array<LogLine> = []

const listen = () =>
  new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", () => resolve(void server.off("error", reject)))
  })

/**
 * A port that the system gives to no program which listens on any free port, so that no other test takes it while it is
 * closed.
 */
const findPort = async () => {
  for (port = 20_000 + (process.pid % 10_000); ; port++) if (await listen().then(close, () => false)) return
}
const close = () => new Promise<boolean>((resolve) => server.close(() => resolve(true)))

let workshop: PromiseWorkshop
let shop_id = ""
beforeEach(async () => {
  requests.length = 0
  lines.length = 0
  server = createServer((_request, response) => void requests.push(response.setHeader("Connection", "close")))
  await findPort()
  workshop = await start({
    store: MemoryStore.layer,
    sender: NodeSender.layer(),
    webhookPolicy: { allowLoopbackHttp: true },
    notifyClient: async () => {},
    logger: (line) => void lines.push(line),
    background: false
  })
  const shop = await workshop.orThrow.shops.create({ name: "Needle", currency: "EUR", time_zone: "Europe/Paris" })
  shop_id = shop.id
  await workshop.orThrow.webhooks.set(shop_id, `http://127.0.0.1:${port}/hook`)
})
afterEach(async () => {
  await workshop.stop()
  server.closeAllConnections()
  server.close()
})

const create = () =>
  workshop.orThrow.tickets.createInApp({ shop_id, caller_id: "amira", scopes: [], via: "app" }, { service: "Hem" })

const arrived = (count: number) => expect.poll(() => requests.length, { timeout: 10_000 }).toBe(count)

const attempts = async () =>
  (await workshop.orThrow.deliveries.list(shop_id)).map(({ state, attempts }) => [
    state,
    attempts.map(({ status }) => status)
  ])

it("deliveries run only between background.start() and background.stop(), so that a program can open and close its receiver's port without a failed delivery", async () => {
  await create()
  await listen()
  await Promise.all([workshop.background.start(), workshop.background.start()])
  await arrived(1)
  expect(await attempts()).toEqual([["pending", []]])

  const stopping = workshop.background.stop()
  requests[0]!.end()
  await stopping
  await workshop.background.stop()
  // background.stop() waited for the attempt in flight, so its result is stored.
  expect(await attempts()).toEqual([["delivered", [200]]])
  await close()

  await create()
  // A delivery before background.start() would fail, because the port was closed until now.
  await listen()
  await workshop.background.start()
  await arrived(2)
  requests[1]!.end()
  await workshop.background.stop()
  expect(await attempts()).toEqual([
    ["delivered", [200]],
    ["delivered", [200]]
  ])
  expect(lines).toEqual([])
})

it("stop() also stops the background work, waits for requests in flight, and makes background.start() reject", async () => {
  await create()
  await listen()
  await workshop.background.start()
  await arrived(1)
  const stopping = workshop.stop()
  await expect(workshop.background.start()).rejects.toMatchObject({ _tag: "WorkshopStopped" })
  requests[0]!.end()
  await stopping
  await workshop.background.stop()
  expect(requests).toHaveLength(1)
  expect(lines).toEqual([])
})

it("notifyClient is called for a waiting notification only after background.start()", async () => {
  const notified: Array<string> = []
  const own = await start({
    store: MemoryStore.layer,
    background: false,
    notifyClient: async ({ type }) => notified.push(type)
  })
  const { shops, tickets } = own.orThrow
  const { id } = await shops.create({ name: "Needle", currency: "EUR", time_zone: "Europe/Paris" })
  const caller = { shop_id: id, caller_id: "amira", scopes: [], via: "app" } as const
  const { data } = await tickets.createInApp(caller, { service: "Hem", client_phone: "+33612345678" })
  await tickets.changeStatus(caller, data.id, "ready")
  expect(notified).toEqual([])
  await own.background.start()
  await expect.poll(() => notified, { timeout: 10_000 }).toEqual(["ticket.ready"])
  await own.stop()
})
