import { closeSync, existsSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs"
import type { AuditEntry, ClientAccount, ClientId, ShopId, ShopRecord } from "@workshop/core"
import type { Change, Person } from "@workshop/core/store"

/** The changes that commits write, one a line of the journal. */
export type Entry =
  | { readonly _tag: "Shop"; readonly shop: ShopRecord }
  | { readonly _tag: "SandboxMade" }
  | { readonly _tag: "Cleared" }
  | { readonly _tag: "Account"; readonly account: ClientAccount }
  | { readonly _tag: "Audit"; readonly audited: AuditEntry }
  | { readonly _tag: "ErasureBegun"; readonly person: Person }
  | { readonly _tag: "ErasureEnded"; readonly id: ClientId }
  | { readonly _tag: "Changes"; readonly shop_id: ShopId; readonly changes: ReadonlyArray<Change> }

/** A file to which commits are appended, and from which all of them can be read again. */
export class Journal {
  readonly #file: number

  private constructor(file: number) {
    this.#file = file
  }

  /** Opens a journal, and hands over what it holds, in order. A last line without its end was never acknowledged: it goes. */
  static open(path: string, replay: (entry: Entry) => void): Journal {
    const text = existsSync(path) ? readFileSync(path, "utf8") : ""
    const whole = text.slice(0, text.lastIndexOf("\n") + 1)
    for (const line of whole.split("\n")) if (line !== "") replay(JSON.parse(line))
    const file = openSync(path, "a")
    if (whole.length < text.length) ftruncateSync(file, Buffer.byteLength(whole))
    return new Journal(file)
  }

  /** Writes an entry; it is on the disk when this returns. */
  append(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
    fdatasyncSync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }
}
