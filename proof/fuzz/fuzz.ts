import { Grammar } from "./Grammar.js"
import { inputOf, parsers } from "./parsers.js"
import { type Document, fuzzRequests } from "./requests.js"

/** The result of fuzzing: the number of inputs, and the errors found. */
export interface FuzzResult {
  readonly inputs: number
  readonly errors: ReadonlyArray<string>
}

/**
 * The largest processor time to parse one input, far more than an input of these lengths needs even on a busy machine.
 */
const SLOW_MS = 2000

/** The order of the parsers: each in every one of ten turns, and rare ones in only one of them. */
const TURNS = Array.from({ length: 10 }, (_, turn) => parsers.filter(({ isRare }) => !isRare || turn === 0)).flat()

/** Fuzzes all parsers, each with its share of the inputs. */
export const fuzzParsers = async (seed: number, inputs: number): Promise<FuzzResult> => {
  const grammar = new Grammar(seed)
  const errors: Array<string> = []
  for (let done = 0; done < inputs && errors.length < 20; done++) {
    const parser = TURNS[done % TURNS.length]!
    const text = inputOf(grammar, parser)
    const began = process.cpuUsage()
    try {
      const error = await parser.read(text)
      if (error !== null) errors.push(`${parser.name}: ${error}: ${JSON.stringify(text)}`)
    } catch (error) {
      errors.push(`${parser.name}: ${error}: ${JSON.stringify(text)}`)
    }
    const { user, system } = process.cpuUsage(began)
    const duration_ms = (user + system) / 1000
    if (duration_ms > SLOW_MS)
      errors.push(`${parser.name}: ${duration_ms.toFixed(0)} ms: ${JSON.stringify(text).slice(0, 300)}`)
  }
  return { inputs, errors }
}

/** Fuzzes the service with a number of requests. */
export const fuzzService = async (seed: number, inputs: number, document: Document): Promise<FuzzResult> => {
  const errors: Array<string> = []
  for await (const error of fuzzRequests(seed, inputs, document)) {
    if (error !== null) errors.push(error)
    if (errors.length >= 20) break
  }
  return { inputs, errors }
}
