import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeStream } from "@effect/platform-node"
import { readRows } from "@workshop/cli/rows"
import { type ImportReport, Imports, type ShopId } from "@workshop/core"
import { respondWithFailure } from "@workshop/core/http"
import { Effect } from "effect"

const wrongType = {
  success: false,
  error: { code: "VALIDATION_ERROR", message: "Send JSON lines with the Content-Type application/x-ndjson" }
}

/**
 * Imports the JSON lines of a request, even if they do not fit into memory. `so_far` of a refusal is the report of the
 * batches before it.
 */
export const upload = (shop_id: ShopId) =>
  Effect.gen(function* () {
    const { headers, stream } = yield* HttpServerRequest.HttpServerRequest
    if (!headers["content-type"]?.startsWith("application/x-ndjson"))
      return yield* HttpServerResponse.json(wrongType, { status: 415 })
    const { lines } = readRows(yield* NodeStream.toReadable(stream), "jsonl")
    let so_far: ImportReport | null = null
    const onProgress = (report: ImportReport) => {
      so_far = report
    }
    return yield* Imports.run(shop_id, { lines, badRows: "skip", onProgress }).pipe(
      // The body was empty, or a line and the rest after it could not be read.
      Effect.flatMap((report) =>
        HttpServerResponse.json(report, { status: report.rows === 0 || report.stopped_at !== null ? 422 : 200 })
      ),
      Effect.catchAll((failure) => respondWithFailure(failure, { so_far }))
    )
  }).pipe(Effect.catchAll(respondWithFailure))
