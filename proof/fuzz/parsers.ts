import { Phone, parseWebhookAddress, productionAddresses } from "@workshop/core"
import { durationMs, TrackingCodeText } from "@workshop/core/internal"
import { readScenario } from "@workshop/testers/scenario"
import { verify } from "@workshop/webhooks"
import { Schema } from "effect"
import { decode, encode } from "../../packages/core/src/domain/Cursor.js"
import { DateOrDateTimeText, DateTimeText } from "../../packages/core/src/domain/Instant.js"
import { TicketQuery } from "../../packages/core/src/services/TicketQuery.js"
import { ResponseParser } from "../../packages/http-node/src/sender/ResponseParser.js"
import type { Grammar } from "./Grammar.js"

/** A parser of external input, with valid inputs from which the fuzzer generates others. */
export interface Parser {
  readonly name: string
  readonly seeds: ReadonlyArray<string>
  /** True if the parser gets only a tenth as many inputs as other parsers. */
  readonly isRare?: true
  /** Parses a text, and returns the error that the fuzzer must report, or null. An exception is an error too. */
  readonly read: (text: string) => string | null | Promise<string | null>
}

const binding = { shop_id: "shop" as never, filters: [] }

const schema = (
  name: string,
  of: Schema.Schema<never, string> | Schema.Schema<unknown, string>,
  seeds: ReadonlyArray<string>
): Parser => {
  const decodeText = Schema.decodeUnknownEither(of as Schema.Schema<unknown, string>)
  return {
    name,
    seeds,
    read: (text) => {
      const decoded = decodeText(text)
      return JSON.stringify(decoded) === JSON.stringify(decodeText(text)) ? null : "it reads the same text in two ways"
    }
  }
}

/** Checks that a receiver's response is parsed in the same way if it arrives in pieces of any size. */
const readResponse = (text: string): string | null => {
  const bytes = Buffer.from(text, "latin1")
  const read = (cut: number) => {
    const parser = new ResponseParser()
    for (let i = 0; i < bytes.length; i += cut) {
      const refused = parser.add(bytes.subarray(i, i + cut))
      if (refused !== undefined) return refused.error
    }
    return JSON.stringify([parser.status, parser.isComplete, parser.keep_alive_s])
  }
  const [whole, ...parts] = [1_000_000, 1, 7].map(read)
  // The results of an input in one part and in several parts must agree, even if the parser refuses the input early.
  return parts.every((part) => part === whole)
    ? null
    : `the parser reads the whole input as ${whole}, but the same input in parts as ${parts.join(" and ")}`
}

/** All parsers of external texts. */
export const parsers: ReadonlyArray<Parser> = [
  {
    name: "cursors",
    seeds: [encode(binding, "12"), encode(binding, "1795161600000 01a1f7f8-2cae-7000-b085-f083f7c56faf")],
    read: (text) => {
      const place = decode(binding, text)
      return place === null || encode(binding, place) === text ? null : `another spelling of ${place} is taken`
    }
  },
  {
    name: "signatures",
    seeds: ["t=1732000000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd"],
    read: async (text) => {
      const verdict = await verify("{}", text, "whsec_x", { now: new Date(1_732_000_000_000) })
      return verdict.ok ? "a signature of nobody is good" : null
    }
  },
  {
    name: "receivers' answers",
    seeds: [
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\nT: x\r\n\r\n",
      "HTTP/1.0 410 Gone\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n"
    ],
    read: readResponse
  },
  {
    name: "scenario files",
    // A scenario takes thirty times as long to parse as another input, and only the developer who runs it writes it.
    isRare: true,
    seeds: [
      "name: x\ngiven:\n  shops: { lac: { webhook: true } }\nsteps:\n  - create ticket: { shop: $lac, service: Hem }\n    expect: 201\n    save: { ticket: data.id }\n  - advance: 60d\n"
    ],
    read: (text) => {
      readScenario("a.yaml", text)
      return null
    }
  },
  {
    name: "webhook addresses",
    seeds: ["https://example.com/hook", "https://[2001:db8::1]:443/x?y#z", "https://1.2.3.4/"],
    read: (text) => {
      const address = parseWebhookAddress(text, productionAddresses)
      return /Right/.test(String(address._tag)) && !text.trim().toLowerCase().startsWith("https:")
        ? "it is not https"
        : null
    }
  },
  schema("phone numbers", Phone as never, ["+21620123456", "+216 20 123 456", "+1 (650) 253-0000"]),
  schema("tracking codes", TrackingCodeText as never, ["7K3M-Q9XD", "7k3m–q9xd"]),
  schema("dates and times", DateTimeText as never, ["2026-11-20T10:20:42.123Z", "2026-11-20t10:20:42+05:30"]),
  schema("dates", DateOrDateTimeText as never, ["2026-11-20", "2026-11-20T10:20:42Z"]),
  {
    name: "durations",
    seeds: ["60d", "23h59m", "1ms"],
    read: (text) => (Number.isNaN(durationMs(text) ?? 0) ? "it is no number" : null)
  },
  {
    name: "queries",
    seeds: ["state=ready,workshop", "limit=5", "updated_since=2026-01-01", "number=9999"],
    read: (text) => {
      Schema.decodeUnknownEither(TicketQuery)(Object.fromEntries(new URLSearchParams(text)))
      return null
    }
  }
]

/** Generates an input of a parser that is similar to a valid one. */
export const inputOf = (grammar: Grammar, { seeds }: Parser): string =>
  grammar.draws.chance(0.05) ? grammar.noise(60) : grammar.bent(grammar.draws.oneOf(seeds))
