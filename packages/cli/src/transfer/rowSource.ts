import { open } from "node:fs/promises"
import type { Readable } from "node:stream"
import { Data } from "effect"

/**
 * A file or a stream of rows cannot be read, or not to its end. The message is a sentence, and the `cause` is Node's
 * error.
 */
export class RowsUnreadable extends Data.TaggedError("RowsUnreadable")<{
  readonly message: string
  readonly cause?: unknown
}> {}

/** The pieces of a source, one after another. */
export type Chunks = AsyncIterable<string | Buffer>

/** The source of rows. A file is opened only when the first chunk is read. */
export interface RowSource {
  readonly chunks: Chunks
  /** The bytes of the file that were read so far; 0 for a stream. */
  readonly bytesRead: () => number
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const noFileMessage = (file: string): string => `There is no file ${file}. Check the path.`
const noPermissionMessage = (file: string): string =>
  `This program has no permission to read ${file}. Correct the file's permissions.`

/** The sentences for a file that cannot be read, by the code of Node's error. */
const sentences: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: noFileMessage,
  ENOTDIR: noFileMessage,
  EISDIR: (file) => `${file} is a folder. Give the path of a CSV or JSON lines file.`,
  EACCES: noPermissionMessage,
  EPERM: noPermissionMessage
}

/** The refusal of a file, from Node's error. */
export const fileRefusal = (file: string, cause: unknown): RowsUnreadable => {
  const sentence = sentences[String((cause as Partial<NodeJS.ErrnoException> | null)?.code)]
  const message = sentence?.(file) ?? `The file ${file} cannot be read (${messageOf(cause)}).`
  return new RowsUnreadable({ message, cause })
}

const CHUNK_BYTES = 64 * 1024

/** The source of a file, which is open only while it is read. */
export const fileSource = (file: string): RowSource => {
  let count = 0
  const chunks = async function* () {
    const handle = await open(file)
    try {
      for (;;) {
        const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(CHUNK_BYTES) })
        if (bytesRead === 0) return
        count += bytesRead
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await handle.close()
    }
  }
  return { chunks: mapFailure(chunks(), (cause) => fileRefusal(file, cause)), bytesRead: () => count }
}

/** The same chunks, with a failure converted to a refusal. */
async function* mapFailure(
  chunks: Chunks,
  refusal: (cause: unknown) => RowsUnreadable
): AsyncGenerator<string | Buffer> {
  try {
    yield* chunks
  } catch (cause) {
    throw refusal(cause)
  }
}

const streamRefusal = (cause: unknown): RowsUnreadable =>
  new RowsUnreadable({ message: `The stream of rows failed before its end: ${messageOf(cause)}.`, cause })

/** The chunks of standard input. */
export const inputSource = (): RowSource => {
  const chunks = async function* () {
    yield* process.stdin as Chunks
  }
  return { chunks: mapFailure(chunks(), streamRefusal), bytesRead: () => 0 }
}

/** The chunks of a caller's stream. Throws a `TypeError` if it was read before. */
export const streamSource = (stream: NodeJS.ReadableStream): RowSource => {
  const { readableDidRead, destroyed, errored } = stream as Partial<Readable>
  const hasFailed = errored !== null && errored !== undefined
  if (readableDidRead === true || (destroyed === true && !hasFailed))
    throw new TypeError(
      "The stream was already read, for example by a body parser, so its rows are lost. Pass the stream to readRows before anything else reads it"
    )
  // The listener is needed, because an error before the first read, for example while the shop is looked up, would end
  // the process.
  stream.on("error", () => {})
  // The stream is not destroyed, because a destroyed request closes the socket that the response to an upload needs.
  const chunks = ((stream as Partial<Readable>).iterator?.({ destroyOnReturn: false }) ?? stream) as Chunks
  return { chunks: mapFailure(chunks, streamRefusal), bytesRead: () => 0 }
}
