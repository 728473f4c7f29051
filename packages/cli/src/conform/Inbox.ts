import type { Event } from "./Shapes.js"

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

/** How the receiver answers; with silence it leaves the server waiting. */
export type Reply = "silence" | { readonly status: number; readonly location?: string }

/** A receiver of one case. */
export interface Inbox {
  readonly url: string
  readonly posts: ReadonlyArray<Post>
  /** From now on it answers so; 200 at first. */
  readonly answer: (reply: Reply) => void
}

/** Where receivers are opened: on loopback, or within the process for a server that runs in it. */
export interface Inboxes {
  readonly open: () => Inbox
}

class Box implements Inbox {
  readonly url: string
  readonly posts: Array<Post> = []
  readonly #signatureHeader: string
  #reply: Reply = { status: 200 }

  constructor(url: string, signatureHeader: string) {
    this.url = url
    this.#signatureHeader = signatureHeader
  }

  readonly answer = (reply: Reply) => {
    this.#reply = reply
  }

  take(headers: Post["headers"], body: string): Reply {
    this.posts.push({ headers, signatureHeader: this.#signatureHeader, body, event: JSON.parse(body) as Event })
    return this.#reply
  }
}

/** Receivers by the path of their address. */
export class Shelf implements Inboxes {
  readonly #boxes = new Map<string, Box>()
  readonly #origin: string
  readonly #signatureHeader: string

  constructor(origin: string, signatureHeader: string) {
    this.#origin = origin
    this.#signatureHeader = signatureHeader
  }

  readonly open = (): Inbox => {
    const path = `/inbox/${this.#boxes.size + 1}`
    const box = new Box(`${this.#origin}${path}`, this.#signatureHeader)
    this.#boxes.set(path, box)
    return box
  }

  /** A delivery comes; one to no receiver finds nobody. */
  take(path: string, headers: Post["headers"], body: string): Reply {
    return this.#boxes.get(path)?.take(headers, body) ?? { status: 404 }
  }
}
