import type { Client, Fault, Json, Key, Receiver, Shop } from "./model.js"

/** The sandbox as it was when the recording began. */
export interface Beginning {
  readonly at: number
  readonly shop: Shop
  readonly clients: ReadonlyArray<Client>
  readonly keys: ReadonlyArray<Key>
  readonly receiver: Receiver
  readonly faults: ReadonlyArray<Fault>
  /** Whether a limit was used before the recording, so that it may be reached earlier than in the scenario. */
  readonly isCounted: boolean
}

/** An act with its response. */
export interface Act {
  readonly from: "console" | "till"
  readonly at: number
  readonly method: string
  readonly path: string
  /** The body: parsed if it is JSON, otherwise the text; undefined if there was none. */
  readonly body: Json
  readonly contentType: string | null
  readonly once: string | null
  /** The last letters of the key; null if there was no key, undefined for the console's own key. */
  readonly key: string | null | undefined
  readonly status: number
  readonly response: Json
  readonly fault: string | null
  /** The further fields of the response that are expected, by path. */
  readonly asserted: Readonly<Record<string, Json>>
  /** The events of the shop since the recording began, if the act names events. */
  readonly events?: ReadonlyArray<string>
  /** The events that arrived since the receiver was last checked. */
  readonly received?: ReadonlyArray<{ readonly type: string; readonly ticket_id: string | null }>
}

/** The text of a scenario's step, or the reason why the act cannot be a step. */
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
