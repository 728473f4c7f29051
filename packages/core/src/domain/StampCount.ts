import type { ClientId, KeyId } from "./Identifier.js"

/** Whose stamps are counted together: one client's, given by one caller (Specification, Limits). */
export interface StampsKey {
  readonly caller_id: KeyId
  readonly client_id: ClientId
}

/** Where a count of stamps stands in a slice. */
export const stampsPlace = ({ caller_id, client_id }: StampsKey): string => `${caller_id} ${client_id}`
