import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeStream } from "@effect/platform-node"
import { readRows } from "@workshop/cli/rows"
import { type ImportReport, Imports, type ShopId } from "@workshop/core"
import { refused } from "@workshop/core/http"
import { Effect, Stream } from "effect"

/** Imports the JSON lines of a request, also more than fit into memory. `onProgress` gets the report of each batch. */
export const upload = (shop_id: ShopId, onProgress: (report: ImportReport) => void) =>
  Effect.gen(function* () {
    const { stream } = yield* HttpServerRequest.HttpServerRequest
    const { lines } = readRows(yield* NodeStream.toReadable(stream), "jsonl")
    return yield* HttpServerResponse.json(yield* Imports.run({ shop_id, lines, bad_rows: "skip", onProgress }))
  }).pipe(Effect.catchAll(refused))

/** All tickets of a shop as JSON lines. If the store goes away in the midst, the connection is closed before the end. */
export const download = (shop_id: ShopId) =>
  Effect.map(Imports.exported(shop_id), (rows) =>
    HttpServerResponse.stream(
      rows.pipe(
        Stream.map((row) => `${JSON.stringify(row)}\n`),
        Stream.encodeText
      ),
      { contentType: "application/x-ndjson" }
    )
  )
