import { createHmac } from "node:crypto"
import { Broken, expectSame, expectShape, expectThat, shown } from "./Broken.js"
import type { Post } from "./Inbox.js"

/** What the header of a delivery says. */
export interface Signature {
  readonly t: number
  readonly v1: ReadonlyArray<string>
}

/** Reads `t=…,v1=…` (Specification, Webhooks). */
export const signatureOf = (post: Post | undefined): Signature => {
  if (post === undefined) throw new Broken({ expected: "a delivery", found: "none" })
  const { headers, signatureHeader: name } = post
  const header = headers[name.toLowerCase()]
  if (header === undefined) {
    throw new Broken({
      expected: `the header ${name} (--signature-header names another)`,
      found: shown(Object.keys(headers))
    })
  }
  expectShape(header, /^t=\d+(,v1=[0-9a-f]{64})+$/, `the header ${name}`)
  const parts = header.split(",").map((part) => part.split("="))
  return {
    t: Number(parts[0]?.[1]),
    v1: parts.slice(1).map(([, hex]) => hex ?? "")
  }
}

/** Expects a delivery to be signed by these secrets, and by no other, at an instant (Specification, Webhooks). */
export const expectSigned = (post: Post | undefined, secrets: ReadonlyArray<string>, at: string): void => {
  const { t, v1 } = signatureOf(post)
  expectSame(t, Math.floor(Date.parse(at) / 1000), "t, the send time in seconds")
  expectSame(v1.length, secrets.length, "the number of v1 values")
  for (const secret of secrets) {
    const hex = createHmac("sha256", secret).update(`${t}.${post?.body}`).digest("hex")
    expectThat(v1.includes(hex), "a v1 that is the HMAC-SHA256 of t, a dot and the raw body", v1)
  }
}
