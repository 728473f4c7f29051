import type { AddressInfo, Server } from "node:net"
import { Data, Effect } from "effect"

/** The address cannot be listened on. */
export class CannotListen extends Data.TaggedError("CannotListen")<{
  readonly host: string
  readonly port: number
  /** The system's name for the reason, such as `EADDRINUSE`. */
  readonly code: string | undefined
  readonly cause: Error
}> {
  override get message() {
    return `Cannot listen on ${this.host}:${this.port}: ${this.cause.message}`
  }
}

/** Lets a server listen; port 0 takes a free one. Returns where it listens. */
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
