import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

/** Digests of texts in UTF-8, as lower-case hex. */
export interface Digests {
  readonly sha256Hex: (text: string) => string
  readonly hmacSha256Hex: (key: string, text: string) => string
}

interface Hashing {
  readonly update: (text: string, encoding: "utf8") => { readonly digest: (encoding: "hex") => string }
}

interface NativeCrypto {
  readonly createHash: (algorithm: "sha256") => Hashing
  readonly createHmac: (algorithm: "sha256", key: string) => Hashing
}

interface Host {
  readonly process?: { readonly getBuiltinModule?: (name: "node:crypto") => NativeCrypto | undefined }
}

/** The digests in plain JavaScript, for platforms without node:crypto. */
export const portable: Digests = {
  sha256Hex: (text) => bytesToHex(sha256(utf8ToBytes(text))),
  hmacSha256Hex: (key, text) => bytesToHex(hmac(sha256, utf8ToBytes(key), utf8ToBytes(text)))
}

const nativeOf = ({ createHash, createHmac }: NativeCrypto): Digests => ({
  sha256Hex: (text) => createHash("sha256").update(text, "utf8").digest("hex"),
  hmacSha256Hex: (key, text) => createHmac("sha256", key).update(text, "utf8").digest("hex")
})

// The platform's own digests are several times faster, and the web-standard ones are asynchronous. The module is named at run time, because
// this package is also bundled for platforms that lack it.
const native = (globalThis as Host).process?.getBuiltinModule?.("node:crypto")

/** The fastest implementation on this platform. */
export const { sha256Hex, hmacSha256Hex }: Digests = native === undefined ? portable : nativeOf(native)
