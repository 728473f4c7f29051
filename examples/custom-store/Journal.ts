import { closeSync, existsSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs"
import type { AuditEntry, ClientAccount, ClientId, ShopId, ShopRecord } from "@workshop/core"
import type { Change, Person } from "@workshop/core/store"

/** The changes of a commit, which are one line of the journal. */
export type Entry =
  | { readonly _tag: "Shop"; readonly shop: ShopRecord }
  | { readonly _tag: "SandboxMade" }
  | { readonly _tag: "Cleared" }
  | { readonly _tag: "Account"; readonly account: ClientAccount }
  | { readonly _tag: "Audit"; readonly audited: AuditEntry }
  | { readonly _tag: "ErasureBegun"; readonly person: Person }
  | { readonly _tag: "ErasureEnded"; readonly id: ClientId }
  | { readonly _tag: "Changes"; readonly shop_id: ShopId; readonly changes: ReadonlyArray<Change> }

/** A file to which commits are appended, and from which they are all read at the start. */
export class Journal {
  readonly #file: number

  private constructor(file: number) {
    this.#file = file
  }

  /**
   * Opens a journal, and calls `replay` with each entry in order. It drops an incomplete last line, which was never
   * acknowledged.
   */
  static open(path: string, replay: (entry: Entry) => void): Journal {
    const text = existsSync(path) ? readFileSync(path, "utf8") : ""
    const whole = text.slice(0, text.lastIndexOf("\n") + 1)
    for (const line of whole.split("\n")) if (line !== "") replay(JSON.parse(line))
    const file = openSync(path, "a")
    if (whole.length < text.length) ftruncateSync(file, Buffer.byteLength(whole))
    return new Journal(file)
  }

  /** Writes an entry, which is on the disk when this returns. */
  append(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
    fdatasyncSync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }
}
