import { createHmac } from "node:crypto"
import { expectSame, expectShape, expectThat } from "./Broken.js"
import type { Post } from "./Inbox.js"

/** What the header of a delivery says. */
export interface Signature {
  readonly t: number
  readonly v1: ReadonlyArray<string>
}

/** Reads `t=…,v1=…` (spec §6). */
export const signatureOf = (post: Post | undefined): Signature => {
  const header = post?.headers["service-signature"] ?? ""
  expectShape(header, /^t=\d+(,v1=[0-9a-f]{64})+$/, "the header Service-Signature")
  const parts = header.split(",").map((part) => part.split("="))
  return {
    t: Number(parts[0]?.[1]),
    v1: parts.slice(1).map(([, hex]) => hex ?? "")
  }
}

/** Expects a delivery to be signed by these secrets, and by no other, at an instant (spec §6). */
export const expectSigned = (post: Post | undefined, secrets: ReadonlyArray<string>, at: string): void => {
  const { t, v1 } = signatureOf(post)
  expectSame(t, Math.floor(Date.parse(at) / 1000), "t, the send time in seconds")
  expectSame(v1.length, secrets.length, "the number of v1 values")
  for (const secret of secrets) {
    const hex = createHmac("sha256", secret).update(`${t}.${post?.body}`).digest("hex")
    expectThat(v1.includes(hex), "a v1 that is the HMAC-SHA256 of t, a dot and the raw body", v1)
  }
}
