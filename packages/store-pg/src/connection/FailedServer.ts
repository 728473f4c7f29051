/** The server of each failed connection, by error, because Node's errors often name no host or no port. */
const servers = new WeakMap<object, { readonly host: string; readonly port: number }>()

/** Records the server to which a connection failed with an error. */
export const recordServer = (error: unknown, server: { readonly host: string; readonly port: number }): void => {
  if (typeof error === "object" && error !== null) servers.set(error, server)
}

const messageOf = (error: Error): string =>
  // An AggregateError means that the host has several addresses and a connection to each failed.
  error instanceof AggregateError && error.message === "" ? String(error.errors[0]?.message) : error.message

/**
 * The reason why a connection failed, with host and port but without user and password, such as `getaddrinfo ENOTFOUND db.example:5432`.
 * Undefined for other errors.
 */
export const connectionFailure = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const server = servers.get(error)
  if (server === undefined) return connectionFailure(error.cause)
  const { host, port } = server
  const words = messageOf(error)
  if (words.endsWith(`:${port}`) || words.endsWith(`.${port}`)) return words
  return words.endsWith(host) ? `${words}:${port}` : `${words} at ${host}:${port}`
}
