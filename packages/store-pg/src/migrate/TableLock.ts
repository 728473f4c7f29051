/**
 * The time for which a change of the schema waits for a table's lock. It is short, because all later transactions on
 * the table wait behind it. The change is retried after a pause.
 */
export const LOCK_TIMEOUT = "100ms"

const BUSY = ["55P03", "40P01"]

/** Whether a statement failed because other transactions use the table. */
export const isBusy = ({ code }: { readonly code: string | undefined }): boolean =>
  code !== undefined && BUSY.includes(code)
