/** A valid id that no record has. */
export const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"

/** Finds the ids in a text. */
export const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** The ids in a value, in their order. */
export const idsIn = (value: unknown): ReadonlyArray<string> => (JSON.stringify(value) ?? "").match(ID) ?? []
