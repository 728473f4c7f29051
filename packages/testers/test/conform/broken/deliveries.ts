import { statusReply } from "../../../src/testkit/LoopbackServer.js"
import type { Fault } from "../InProcess.js"
import { type BrokenServer, eventBodies, type Json } from "./BrokenServer.js"

/** Changes the header that signs a delivery. */
const signatures = (change: (header: string) => string) => (): Fault => ({
  send: (send) => (post) => {
    const headers = Object.entries(post.headers).map(([name, value]) => [name, change(value)] as const)
    return send({ ...post, headers: Object.fromEntries(headers) })
  }
})

/** Misreads one status of a receiver as another. */
const misread = (from: number, to: number) => (): Fault => ({
  send: (send) => (post) => {
    const reply = send(post)
    return reply.kind === "status" && reply.status === from ? statusReply(to) : reply
  }
})

const dataOf = (type: string, change: (data: Json) => void) => () =>
  eventBodies((event) => {
    if (event.type === type) change(event.data)
  })

/** Servers with a fault in their deliveries. */
export const brokenDeliveries: ReadonlyArray<BrokenServer> = [
  {
    does: "signs a text other than the one that it sends",
    caughtBy: ["signature"],
    fault: () => ({ send: (send) => (post) => send({ ...post, body: `${post.body}\n` }) })
  },
  {
    does: "signs a timestamp in milliseconds",
    caughtBy: ["signature"],
    fault: signatures((header) => header.replace(/t=(\d+)/, "t=$1000"))
  },
  {
    does: "writes its signature in capital letters",
    caughtBy: ["signature"],
    fault: signatures((header) => header.replaceAll(/=([0-9a-f]{64})/g, (text) => text.toUpperCase()))
  },
  {
    does: "signs with only one secret after a rotation",
    caughtBy: ["secret-rotation"],
    fault: signatures((header) => header.split(",").slice(0, 2).join(","))
  },
  {
    does: "keeps delivering after a 410",
    caughtBy: ["webhook-gone", "webhook-enable"],
    fault: misread(410, 500)
  },
  {
    does: "accepts only 200 as an acknowledgement",
    caughtBy: ["delivery-status-204", "delivery-status-299"],
    fault: () => ({
      send: (send) => (post) => {
        const reply = send(post)
        return reply.kind === "status" && reply.status > 200 && reply.status < 300 ? statusReply(500) : reply
      }
    })
  },
  {
    does: "accepts a redirect as an acknowledgement",
    caughtBy: ["delivery-status-301"],
    fault: misread(301, 200)
  },
  {
    does: "follows redirects",
    caughtBy: ["delivery-redirect"],
    fault: () => ({
      send: (send) => (post) => {
        const reply = send(post)
        return reply.kind === "redirect" ? send({ ...post, url: reply.to }) : reply
      }
    })
  },
  {
    does: "counts a missing response as an acknowledgement",
    caughtBy: ["delivery-silence"],
    fault: () => ({
      send: (send) => (post) => {
        const reply = send(post)
        return reply.kind === "silent" ? statusReply(200) : reply
      }
    })
  },
  {
    does: "does not say from which state a ticket was reopened",
    caughtBy: ["reopen-event-from"],
    fault: dataOf("ticket.reopened", (data) => delete data.from)
  },
  {
    does: "does not say why a ticket was closed",
    caughtBy: ["closure-event-reason"],
    fault: dataOf("ticket.abandoned", (data) => delete data.reason)
  },
  {
    does: "does not say how the client was notified",
    caughtBy: ["notified-call", "notified-ready"],
    fault: dataOf("client.notified", (data) => delete data.channel)
  },
  {
    does: "writes its version as v1 into events",
    caughtBy: ["event-envelope", "version-in-events"],
    fault: () =>
      eventBodies((event) => {
        event.api_version = "v1"
      })
  }
]
