import type { Client, Fault, Json, Key, Receiver, Shop } from "./model.js"

/** The sandbox as it was when the recording began. */
export interface Beginning {
  readonly at: number
  readonly shop: Shop
  readonly clients: ReadonlyArray<Client>
  readonly keys: ReadonlyArray<Key>
  readonly receiver: Receiver
  readonly faults: ReadonlyArray<Fault>
  /** Whether something was counted already, so that a limit may be reached sooner than in a scenario. */
  readonly isCounted: boolean
}

/** Something that was done, with what came of it. */
export interface Act {
  readonly from: "console" | "till"
  readonly at: number
  readonly method: string
  readonly path: string
  /** As JSON where it is JSON, else as text; undefined where there was none. */
  readonly body: Json
  readonly contentType: string | null
  readonly once: string | null
  /** The last letters of the key; null where there was none, undefined where it is the console's own. */
  readonly key: string | null | undefined
  readonly status: number
  readonly response: Json
  readonly fault: string | null
  /** Further fields that are expected in the response, by their paths. */
  readonly asserted: Readonly<Record<string, Json>>
  /** The events of the shop since the recording began, where the act names events. */
  readonly events?: ReadonlyArray<string>
  /** The events that came since the receiver was last looked at. */
  readonly received?: ReadonlyArray<{ readonly type: string; readonly ticket_id: string | null }>
}

/** A step of a scenario as it is written, or why an act is none. */
export interface Step {
  readonly act: Act
  readonly lines: ReadonlyArray<string>
  readonly problem: string | null
}

/** A recording as a scenario. */
export interface Recording {
  readonly steps: ReadonlyArray<Step>
  readonly text: string
}
