import { HttpServerResponse } from "@effect/platform"
import { Imports, type ShopId } from "@workshop/core"
import { Effect, Stream } from "effect"

/** All tickets of a shop as JSON lines. If the store becomes unavailable in the middle, the connection is closed before the end. */
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
