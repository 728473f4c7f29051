import type { Paint } from "@workshop/core/internal/terminal"
import type { LoggedRequest } from "@workshop/http-node/internal"
import { Api, dataOf } from "@workshop/testers/internal"
import { Clock, Console, Effect } from "effect"
import { type CommandRefused, toCommandRefused } from "../CommandRefused.js"
import { sandboxRefusal } from "../sandbox/Sandbox.js"
import { command, flagsOf, jsonFlag, optionalFlag, type Values, valueFlag } from "../terminal/commands.js"
import { oneOf, textMatching, webAddress, wholeNumber } from "../terminal/decoders.js"
import { paintFor } from "../terminal/Output.js"

const own = flagsOf("logs")

const options = {
  baseUrl: valueFlag("--base-url <url>", "The address of a server with a sandbox, with or without /v1.", {
    decoder: webAddress,
    fallback: "http://127.0.0.1:4010"
  }),
  sandboxToken: optionalFlag("--sandbox-token <token>", "The token of the sandbox, if it requires one."),
  follow: own.toggle("follow", "Also print new requests as they arrive, until Ctrl-C."),
  shop: own.optional("--shop <id>", "Print only requests with a key of this shop."),
  ticket: own.optional("--ticket <id>", "Print only requests about this ticket."),
  method: own.optional("--method <method>", "Print only requests with this method.", oneOf(["GET", "POST"])),
  path: own.optional("--path <text>", "Print only requests whose path contains this text."),
  status: own.optional(
    "--status <status>",
    "Print only requests whose response has this status, such as 409, or a status of this class, such as 4xx.",
    {
      decoder: textMatching("must be a status such as 409, or a class such as 4xx", (text) =>
        /^[1-5](\d\d|xx)$/.test(text)
      )
    }
  ),
  reason: own.optional(
    "--reason <reason>",
    "Print only refused requests with this error code or reason, such as REOPEN_WINDOW."
  ),
  bodies: own.toggle("bodies", "Also print the bodies of requests and responses."),
  limit: own.value("--limit <number>", "Print at most this many requests, the latest ones.", {
    decoder: wholeNumber(1, 5000),
    fallback: "100"
  }),
  json: jsonFlag
}

type Flags = Values<typeof options>

/** True if a request matches the flags. The server itself applies `--shop` and `--ticket`. */
const makeFilter =
  ({ method, path, status, reason }: Flags) =>
  (request: LoggedRequest): boolean =>
    (method === null || request.method === method) &&
    (path === null || request.path.includes(path)) &&
    (status === null || String(request.status) === status || `${String(request.status)[0]}xx` === status) &&
    (reason === null || request.code === reason || request.reason === reason)

const toneOf = (status: number) => (status < 400 ? "good" : status < 500 ? "warn" : "bad")

const lineOf = (request: LoggedRequest, bodies: boolean, paint: Paint): string => {
  const { at, method, path, status, code, reason, replayed, fault, key_last_four, duration_ms } = request
  const reasonText = [code, reason].filter((word) => word !== null).join(" ")
  const marks = [replayed ? "replayed" : "", fault === null ? "" : `fault ${fault}`].filter((mark) => mark !== "")
  const line = [
    paint("faint", at),
    paint(toneOf(status), String(status)),
    method,
    path,
    ...(reasonText === "" ? [] : [paint("warn", reasonText)]),
    ...marks.map((mark) => paint("name", mark)),
    paint("faint", `${duration_ms.toFixed(1)} ms${key_last_four === null ? "" : `, key ...${key_last_four}`}`)
  ].join(" ")
  if (!bodies) return line
  const sent = request.request.body === null || request.request.body === "" ? [] : [`  > ${request.request.body}`]
  return [line, ...sent, `  < ${request.response.body}`].join("\n")
}

/** Reads the requests of a sandbox. */
const readRequests = (flags: Flags) => {
  const { baseUrl, sandboxToken, shop, ticket } = flags
  const api = new Api(baseUrl, { sandboxToken })
  return (parameters: Readonly<Record<string, string>>) => {
    const query = { ...(shop !== null && { shop }), ...(ticket !== null && { ticket }), ...parameters }
    return Effect.flatMap(
      api.call("GET", `/sandbox/requests?${new URLSearchParams(query)}`),
      (exchange): Effect.Effect<ReadonlyArray<LoggedRequest>, CommandRefused> => {
        const requests = dataOf<ReadonlyArray<LoggedRequest>>(exchange)
        return requests === undefined
          ? sandboxRefusal({ baseUrl: api.origin, token: sandboxToken }, exchange)
          : Effect.succeed(requests)
      }
    )
  }
}

const POLL_INTERVAL = "500 millis"

/** `workshop logs` (Specification, Sandbox): the requests to a sandbox's API, in the terminal. */
export const logsCommand = command({
  name: "logs",
  examples: [
    "workshop logs --follow",
    "workshop logs --status 4xx --bodies",
    "workshop logs --reason REOPEN_WINDOW --json"
  ],
  options,
  run: (flags) =>
    Effect.gen(function* () {
      const read = readRequests(flags)
      const paint = paintFor()
      const print = (requests: ReadonlyArray<LoggedRequest>) =>
        Effect.forEach(
          requests,
          (request) => Console.log(flags.json ? JSON.stringify(request) : lineOf(request, flags.bodies, paint)),
          { discard: true }
        )
      const earlierEntries = yield* read({})
      const matching = earlierEntries.filter(makeFilter(flags))
      yield* print(matching.slice(-flags.limit))
      if (!flags.follow) return
      let last = earlierEntries.at(-1)?.id ?? 0
      for (;;) {
        yield* Effect.withClock(Effect.sleep(POLL_INTERVAL), Clock.make())
        // If the server does not respond, the command tries again, because the server may be restarting.
        const after = yield* Effect.catchTag(read({ after: String(last) }), "NoResponse", () => Effect.succeed([]))
        const newest = after.length > 0 ? [] : yield* Effect.orElseSucceed(read({ limit: "1" }), () => [])
        if (newest.some(({ id }) => id < last)) last = 0
        yield* print(after.filter(makeFilter(flags)))
        last = after.at(-1)?.id ?? last
      }
    }).pipe(Effect.mapError(toCommandRefused))
})
