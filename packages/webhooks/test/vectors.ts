import { readFileSync } from "node:fs"

/** A row of test-vectors/webhook-signatures.json, whose README describes each field. */
export interface Vector {
  readonly name: string
  readonly why: string
  readonly body: {
    readonly text?: string
    readonly base64?: string
    readonly repeat?: { readonly text: string; readonly times: number }
  }
  readonly header: string | null
  readonly secrets: ReadonlyArray<string>
  readonly now: number
  readonly tolerance_seconds: number
  readonly ok: boolean
  readonly reason?: string
}

const file = new URL("../../../test-vectors/webhook-signatures.json", import.meta.url)

/** All committed vectors. */
export const { vectors } = JSON.parse(readFileSync(file, "utf8")) as { readonly vectors: ReadonlyArray<Vector> }

/** The raw body of a vector. */
export const bytesOf = ({ text, base64, repeat }: Vector["body"]): Buffer => {
  if (base64 !== undefined) return Buffer.from(base64, "base64")
  return Buffer.from(repeat === undefined ? text! : repeat.text.repeat(repeat.times))
}
