import type { ClientId, KeyId } from "./Identifier.js"

/** Whose stamps are counted together: one client's, given by one caller (Specification, Limits). */
export interface StampCountKey {
  readonly caller_id: KeyId
  readonly client_id: ClientId
}

/** Where a count of stamps stands in a slice. */
export const stampCountKey = ({ caller_id, client_id }: StampCountKey): string => `${caller_id} ${client_id}`
