import type { AddressInfo, Server } from "node:net"
import { Data, Effect } from "effect"

/** The server cannot listen on the address. */
export class CannotListen extends Data.TaggedError("CannotListen")<{
  readonly host: string
  readonly port: number
  /** The system's error code, such as `EADDRINUSE`. */
  readonly code: string | undefined
  readonly cause: Error
}> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `Cannot listen on ${this.host}:${this.port}: ${this.cause.message}`
  }
}

/** Makes a server listen; port 0 chooses a free port. Returns the server's address. */
export const listen = (
  server: Server,
  { host, port }: { readonly host: string; readonly port: number }
): Effect.Effect<AddressInfo, CannotListen> =>
  Effect.async((resume) => {
    const onError = (cause: NodeJS.ErrnoException) =>
      resume(Effect.fail(new CannotListen({ host, port, code: cause.code, cause })))
    server.once("error", onError)
    server.listen(port, host, () => {
      server.off("error", onError)
      resume(Effect.succeed(server.address() as AddressInfo))
    })
  })
