/** One metric family of a Prometheus page. */
export interface Family {
  readonly type: string
  readonly help: string
  readonly samples: Array<{
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly value: number
  }>
}

const SAMPLE =
  /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (NaN|[+-]Inf|-?[\d.]+(?:e[+-]?\d+)?)$/
const SUFFIXES: Readonly<Record<string, RegExp>> = { histogram: /^(_bucket|_sum|_count)$/, counter: /^$/, gauge: /^$/ }
const NUMBERS: Readonly<Record<string, number>> = { "+Inf": Number.POSITIVE_INFINITY, "-Inf": Number.NEGATIVE_INFINITY }

/**
 * Parses Prometheus' text format 0.0.4 as strictly as `promtool check metrics`: each family has HELP, TYPE and then
 * only its own samples, no family or sample appears twice, and the text ends with a line feed. Throws at the first line
 * that breaks a rule.
 */
export const readExposition = (text: string): ReadonlyMap<string, Family> => {
  if (!text.endsWith("\n")) throw new Error("The last line lacks its end")
  const families = new Map<string, Family>()
  const rows = new Set<string>()
  const lines = text.slice(0, -1).split("\n")
  let current: { readonly name: string; readonly family: Family } | undefined
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const [, name = "", help = ""] = /^# HELP ([a-zA-Z_:][\w:]*) (\S.*)$/.exec(line) ?? []
    if (name !== "") {
      const [, typed, type = ""] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(lines[++i] ?? "") ?? []
      if (typed !== name || families.has(name)) throw new Error(`No type after, or a second ${line}`)
      current = { name, family: { type, help, samples: [] } }
      families.set(name, current.family)
      continue
    }
    const [, sample = "", inner = "", value = ""] = SAMPLE.exec(line) ?? []
    const key = line.slice(0, line.lastIndexOf(" "))
    const suffix = SUFFIXES[current?.family.type ?? ""]
    if (current === undefined || !sample.startsWith(current.name) || !suffix?.test(sample.slice(current.name.length)))
      throw new Error(`Not a sample of ${current?.name}: ${line}`)
    if (rows.has(key)) throw new Error(`Twice: ${line}`)
    rows.add(key)
    const labels = [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", text = ""]) => [label, text])
    current.family.samples.push({
      name: sample,
      labels: Object.fromEntries(labels),
      value: NUMBERS[value] ?? Number(value)
    })
  }
  return families
}

/** The sum of the samples of a metric that have the given labels. */
export const total = (text: string, name: string, labels: Readonly<Record<string, string>> = {}): number =>
  [...readExposition(text).values()]
    .flatMap(({ samples }) => samples)
    .filter((sample) => sample.name === name && Object.entries(labels).every(([k, v]) => sample.labels[k] === v))
    .reduce((sum, { value }) => sum + value, 0)
