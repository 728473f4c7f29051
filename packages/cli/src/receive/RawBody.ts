import type { IncomingMessage } from "node:http"
import { Effect } from "effect"

/** The largest body that a receiver reads, in bytes. */
export const BODY_BYTES_MAX = 1_048_576

/** A request's body byte for byte; null where it is larger than {@link BODY_BYTES_MAX}. Never ends where the sender left. */
export const rawBody = (request: IncomingMessage): Effect.Effect<Buffer | null> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let length = 0
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length <= BODY_BYTES_MAX) chunks.push(chunk)
      else {
        request.off("data", onData).resume()
        resume(Effect.succeed(null))
      }
    }
    request.on("data", onData).once("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
  })
