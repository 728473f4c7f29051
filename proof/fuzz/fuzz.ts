import { Grammar } from "./Grammar.js"
import { inputOf, parsers } from "./parsers.js"
import { type Document, fuzzRequests } from "./requests.js"

/** The result of fuzzing: the number of inputs, and the errors found. */
export interface FuzzResult {
  readonly inputs: number
  readonly found: ReadonlyArray<string>
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
  const found: Array<string> = []
  for (let done = 0; done < inputs && found.length < 20; done++) {
    const parser = TURNS[done % TURNS.length]!
    const text = inputOf(grammar, parser)
    const began = process.cpuUsage()
    try {
      const wrong = await parser.read(text)
      if (wrong !== null) found.push(`${parser.name}: ${wrong}: ${JSON.stringify(text)}`)
    } catch (error) {
      found.push(`${parser.name}: ${error}: ${JSON.stringify(text)}`)
    }
    const { user, system } = process.cpuUsage(began)
    const took = (user + system) / 1000
    if (took > SLOW_MS) found.push(`${parser.name}: ${took.toFixed(0)} ms: ${JSON.stringify(text).slice(0, 300)}`)
  }
  return { inputs, found }
}

/** Fuzzes the service with a number of requests. */
export const fuzzService = async (seed: number, inputs: number, document: Document): Promise<FuzzResult> => {
  const found: Array<string> = []
  for await (const wrong of fuzzRequests(seed, inputs, document)) {
    if (wrong !== null) found.push(wrong)
    if (found.length >= 20) break
  }
  return { inputs, found }
}
