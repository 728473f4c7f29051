/**
 * The time for which a change of the schema waits for the lock of a table. It is short, because every transaction that comes later waits
 * behind it; after a pause the change is tried again.
 */
export const LOCK_TIMEOUT = "100ms"

const BUSY = ["55P03", "40P01"]

/** Whether a statement failed because other transactions use the table. */
export const isBusy = ({ code }: { readonly code: string | undefined }): boolean =>
  code !== undefined && BUSY.includes(code)
