import { benchmark, type Row, type Table } from "../report/Benchmark.js"
import { growthPlot } from "../report/plot.js"
import { costsFrom } from "./costsFrom.js"
import { type Costs, type SimulatedFleet, simulateFleet } from "./FleetModel.js"

const WORKERS = [1, 4, 16, 64]
const SHOPS = [100_000, 1_000_000]

const DAY_S = 86_400

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.01 ? 2 : share < 0.1 ? 1 : 0)} %`
const digits = (value: number, max: number): string => value.toLocaleString("en-US", { maximumFractionDigits: max })

const span = (seconds: number): string => {
  if (seconds < 120) return `${digits(seconds, 0)} s`
  if (seconds < 7_200) return `${digits(seconds / 60, 0)} min`
  return seconds < 2 * DAY_S ? `${digits(seconds / 3_600, 1)} h` : `${digits(seconds / DAY_S, 1)} days`
}

/** A number of shops with two significant digits. */
const about = (value: number): string => Number(value.toPrecision(2)).toLocaleString("en-US")

const tableOf = (all: ReadonlyArray<SimulatedFleet>): Table => ({
  head: [
    "workers",
    "shops",
    "processes",
    "commands in a batch",
    "CPU of the busiest worker",
    "connections of a worker",
    "CPU of the coordinator",
    "first bottleneck, and at how many shops",
    "busiest cell, worker (mean = 1)",
    "busiest shop, of its worker",
    "a move takes"
  ],
  rows: all.map((one) => [
    String(one.workers),
    one.shops.toLocaleString("en-US"),
    String(one.processes),
    digits(one.batch, 1),
    percent(one.used["CPU of the busiest worker"]),
    percent(one.used["connections of a worker"]),
    percent(one.used["CPU of the coordinator"]),
    `${one.bends}, ${about(one.bends_at_shops)}`,
    `${one.uneven_cells.toFixed(2)}, ${one.uneven_workers.toFixed(2)}`,
    percent(one.busiest_shop),
    span(one.move_s)
  ])
})

const series = (all: ReadonlyArray<SimulatedFleet>, of: (one: SimulatedFleet) => number) =>
  SHOPS.map((shops) => ({
    name: `${shops.toLocaleString("en-US")} shops`,
    points: all.filter((one) => one.shops === shops).map((one) => [one.workers, of(one)] as const)
  }))

const costRows = (costs: Costs): ReadonlyArray<Row> => {
  const row = (work: string, unit: Row["unit"], ours: number): Row => ({
    work,
    unit,
    ours: Number(ours.toPrecision(3))
  })
  return [
    row("a transaction of commands, on a worker", "ms", costs.batch_ms),
    row("each command in it, on a worker", "ms", costs.command_ms),
    row("a read, on a worker", "ms", costs.read_ms),
    row("a delivery, on a worker", "ms", costs.delivery_ms),
    row("a claim of nothing, on a worker", "ms", costs.look_ms),
    row("a command, in a process", "ms", costs.service_command_ms),
    row("a read, in a process", "ms", costs.service_read_ms),
    row("a delivery, in a dispatcher", "ms", costs.dispatch_delivery_ms),
    row("a move of an empty cell", "s", costs.move_s),
    row("what a move copies", "MiB", costs.move_bytes_per_s / 2 ** 20),
    row("a ticket, with its event and delivery", "bytes", costs.ticket_bytes)
  ]
}

/** Simulates fleets with the costs that other benchmarks measured. */
export const fleet = benchmark({
  about: "a fleet of 1 to 64 workers with up to 1,000,000 shops, simulated by the costs in bench/results",
  options: { seed: { about: "what the order of the shops is drawn from", value: "1" } },
  args: { usual: [], quick: [] },
  run: async ({ seed }) => {
    const costs = costsFrom()
    const sizes = SHOPS.flatMap((shops) => WORKERS.map((workers) => ({ workers, shops, seed: Number(seed) })))
    const all = sizes.map((size) => simulateFleet(size, costs))
    const free = sizes.map((size) => simulateFleet({ ...size, isLimited: false }, costs))
    const title = (what: string) => ({ title: what, x: "workers", y: "" })
    const even = (all: ReadonlyArray<SimulatedFleet>) => all.filter(({ shops }) => shops === SHOPS[1])
    const points = (all: ReadonlyArray<SimulatedFleet>) =>
      even(all).map((one) => [one.workers, one.uneven_workers] as const)
    return {
      rows: costRows(costs),
      table: tableOf(all),
      plots: [
        growthPlot(
          "fleet-cpu",
          title("CPU of the busiest worker, 1 = at its bound"),
          series(all, (one) => one.used["CPU of the busiest worker"])
        ),
        growthPlot(
          "fleet-bends",
          title("Shops at which the first bottleneck is reached"),
          series(all, (one) => one.bends_at_shops)
        ),
        growthPlot("fleet-even", title(`The busiest worker (mean = 1), ${SHOPS[1]!.toLocaleString("en-US")} shops`), [
          { name: "with limits", points: points(all) },
          { name: "without", points: points(free) }
        ])
      ]
    }
  }
})
