import { readFileSync } from "node:fs"
import { CELL_WORKS, MOVED_TICKETS } from "../cells/cellWorks.js"
import type { Row } from "../report/Benchmark.js"
import type { Costs } from "./FleetModel.js"

const WAY = ", eight cells of Citus"

const rowsIn = (name: string): ReadonlyArray<Row> => {
  const file = new URL(`../../results/${name}.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly rows: ReadonlyArray<Row> }).rows
}

/** Reads the costs from the results of other benchmarks. */
export const costsFrom = (rows: (name: string) => ReadonlyArray<Row> = rowsIn): Costs => {
  const result = (benchmark: string, isMeant: (work: string) => boolean): number => {
    const row = rows(benchmark).find(({ work }) => isMeant(work))
    if (row === undefined)
      throw new Error(`The results of ${benchmark} lack a row: run npm run bench -- --only ${benchmark}`)
    return row.ours
  }
  const ofCells = (work: string, way = WAY) => result("cells", (one) => one === `${work}${way}`)
  const [alone, together, batch] = [
    ofCells(CELL_WORKS.serverAlone),
    ofCells(CELL_WORKS.server),
    ofCells(CELL_WORKS.batch)
  ]
  // A single create costs a whole transaction and its own part. A create in a batch costs a share of the transaction
  // and its own part.
  const batch_ms = Math.min(alone, Math.max(0, (alone - together) / (1 - 1 / batch)))
  const [small_s, large_s] = [ofCells(CELL_WORKS.moveSmall, ""), ofCells(CELL_WORKS.moveLarge, "")]
  const bytes = ofCells(CELL_WORKS.moveBytes, "") * 2 ** 20
  const perSecond = (name: string, begin: string, end = "") =>
    1_000 / result(name, (work) => work.startsWith(begin) && work.endsWith(end))
  return {
    batch_ms,
    command_ms: alone - batch_ms,
    batch_took_ms: ofCells(CELL_WORKS.idle),
    read_ms: ofCells(CELL_WORKS.read),
    delivery_ms: ofCells(CELL_WORKS.delivery),
    // The claim queries the eight cells and the home cell.
    look_ms: ofCells(CELL_WORKS.look) / 9,
    service_command_ms: perSecond("http", "POST /v1/tickets") + ofCells(CELL_WORKS.service),
    service_read_ms: perSecond("http", "GET /v1/tickets") + ofCells(CELL_WORKS.serviceRead),
    dispatch_delivery_ms: perSecond("deliver", "deliveries with their attempts logged", "Postgres"),
    move_s: small_s,
    // The steps before and after the copying of rows take as long in a large cell as in a small one.
    move_bytes_per_s: bytes / Math.max(0.1, large_s - small_s),
    ticket_bytes: bytes / ofCells(MOVED_TICKETS, "")
  }
}
