import { type ParseArgsConfig, parseArgs } from "node:util"

/** A bound of a result. */
export type Bound = { readonly at_least: number } | { readonly at_most: number }

/** One result of a benchmark. */
export interface Row {
  /** The work that was measured. */
  readonly work: string
  readonly unit: "µs" | "ms" | "/s" | "s" | "bytes" | "MiB" | ""
  readonly ours: number
  /** The other side's result for the same work. */
  readonly peer?: number
  /** A description of the other side. */
  readonly peer_is?: string
  /** Our result divided by the other side's. */
  readonly ratio?: number
  /** The same ratio for the work per second of processor time. */
  readonly cpu_ratio?: number
  /** The bound of the ratios, or of `ours` without ratios. With `--assert`, a result outside it fails the benchmark. */
  readonly target?: Bound
  /** The bound that the project aims for. */
  readonly goal?: Bound
}

/** A picture of results, as a separate SVG file. */
export interface Plot {
  /** The name of the file, without `.svg`. */
  readonly name: string
  readonly svg: string
}

/** Results whose columns differ from a {@link Row}'s, as texts. */
export interface Table {
  readonly head: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

/** The results of a benchmark. */
export interface Report {
  readonly rows: ReadonlyArray<Row>
  readonly table?: Table
  readonly plots?: ReadonlyArray<Plot>
  /** Errors that fail the benchmark in any case, such as a lost ticket. */
  readonly faults?: ReadonlyArray<string>
}

/** An option of a benchmark. */
export interface Option {
  /** Its description in `--help`. */
  readonly about: string
  /** The default value; a switch has none. */
  readonly value?: string
}

/** Options by their names. */
export type Options = Readonly<Record<string, Option>>

type ValuesOf<O extends Options> = { readonly [Name in keyof O]: O[Name] extends { value: string } ? string : boolean }

/** A benchmark and its options. */
export interface Benchmark<Values = Readonly<Record<string, string | boolean>>, O extends Options = Options> {
  readonly about: string
  readonly options: O
  /** The arguments in a run of all benchmarks, and in a run with `--quick`. */
  readonly args: { readonly usual: ReadonlyArray<string>; readonly quick: ReadonlyArray<string> }
  /** The reason why the benchmark cannot run here, with advice; null if it can. */
  readonly missing?: () => string | null
  readonly run: (values: Values) => Promise<Report>
}

/** Infers the types of the options for `run`. */
export const benchmark = <const O extends Options>(it: Benchmark<ValuesOf<O>, O>): Benchmark =>
  it as unknown as Benchmark

/** A value rounded to a number of decimals. */
export const roundTo = (value: number, digits = 2): number => Number(value.toFixed(digits))

/** True if the results of a row are within a bound. */
export const holds = ({ ours, ratio, cpu_ratio }: Row, bound: Bound): boolean => {
  const ratios = [ratio, cpu_ratio].filter((one) => one !== undefined)
  const values = ratios.length === 0 ? [ours] : ratios
  return "at_least" in bound
    ? values.every((value) => value >= bound.at_least)
    : values.every((value) => value <= bound.at_most)
}

/** A bound in words. */
export const shownBound = (bound: Bound | undefined): string =>
  bound === undefined ? "" : "at_least" in bound ? `at least ${bound.at_least}` : `at most ${bound.at_most}`

const COMMON = { assert: { about: "exits with 1 if a result misses its target" } } satisfies Options

/** The help of a benchmark. */
export const helpOf = (name: string, { about, options }: Benchmark): string => {
  const all = Object.entries<Option>({ ...options, ...COMMON })
  const flags = all.map(([flag, { about, value }]) => {
    const shown = value === undefined || value === "" ? "" : ` The default is ${value}.`
    return `  ${`--${flag}`.padEnd(18)}${about}.${shown}`
  })
  return [`npm run bench -- ${name}: ${about}.`, "", ...flags].join("\n")
}

/** The parsed arguments of a benchmark. */
export interface BenchmarkArguments {
  readonly values: Readonly<Record<string, string | boolean>>
  readonly isAsserting: boolean
  readonly isHelp: boolean
  readonly json: string
}

/** Parses the arguments of a benchmark. Throws a `TypeError` that names the error. */
export const argumentsOf = ({ options }: Benchmark, args: ReadonlyArray<string>): BenchmarkArguments => {
  const config: NonNullable<ParseArgsConfig["options"]> = {
    assert: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
    json: { type: "string", default: "" }
  }
  for (const [flag, { value }] of Object.entries(options))
    config[flag] = value === undefined ? { type: "boolean", default: false } : { type: "string", default: value }
  const { assert, help, json, ...values } = parseArgs({ args: [...args], options: config }).values
  return {
    values: values as BenchmarkArguments["values"],
    isAsserting: assert === true,
    isHelp: help === true,
    json: String(json)
  }
}
