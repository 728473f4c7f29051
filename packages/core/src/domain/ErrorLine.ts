/** The error at the end of an error's chain of causes. */
export const rootCause = (error: Error): Error => {
  // Node's error if all addresses of a host refused the connection has no message of its own.
  const cause = error instanceof AggregateError && error.message === "" ? error.errors[0] : error.cause
  return cause instanceof Error ? rootCause(cause) : error
}

/** An error and its root cause, in one line. */
export const toOneLine = (error: unknown): string => {
  if (!(error instanceof Error)) return "the store is unavailable"
  const root = rootCause(error)
  return error.message.includes(root.message) ? error.message : `${error.message.replace(/\.$/, "")} (${root.message})`
}
