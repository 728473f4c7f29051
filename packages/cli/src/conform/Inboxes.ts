import { Effect } from "effect"
import { type Handler, type Reply, saying } from "../testkit/Receiver.js"
import type { Event } from "../testkit/Shapes.js"

/** A delivery as it came to the suite's receiver. */
export interface Post {
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The name of the header in which its signature is looked for. */
  readonly signatureHeader: string
  /** The body as it came: what is signed. */
  readonly body: string
  readonly event: Event
}

/** A receiver of one case. */
export interface Inbox {
  readonly url: string
  readonly posts: ReadonlyArray<Post>
  /** From now on it answers so, a number standing for a status; 200 at first. */
  readonly answer: (reply: Reply | number) => void
}

/** The receivers of a run, by the path of their address: on a socket, or in process for a server that runs there. */
export class Inboxes {
  readonly #replies = new Map<string, Reply>()
  readonly #posts = new Map<string, Array<Post>>()
  readonly #signatureHeader: string
  /** Where they are reached, without a slash at its end; set before one is opened. */
  origin = ""

  constructor(signatureHeader: string) {
    this.#signatureHeader = signatureHeader
  }

  readonly open = (): Inbox => {
    const path = `/inbox/${this.#posts.size + 1}`
    const posts: Array<Post> = []
    this.#posts.set(path, posts)
    return {
      url: `${this.origin}${path}`,
      posts,
      answer: (reply) => void this.#replies.set(path, typeof reply === "number" ? saying(reply) : reply)
    }
  }

  /** Takes a delivery; an address that no case has opened answers 404. */
  readonly handler: Handler = ({ path, headers, body }) =>
    Effect.sync(() => {
      const posts = this.#posts.get(path)
      if (posts === undefined) return { reply: saying(404) }
      const text = body?.toString("utf8") ?? ""
      const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
      posts.push({ headers: named, signatureHeader: this.#signatureHeader, body: text, event: JSON.parse(text) })
      return { reply: this.#replies.get(path) ?? saying(200) }
    })
}
