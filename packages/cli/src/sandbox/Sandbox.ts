import {
  Api,
  type CallName,
  type CallParts,
  dataOf,
  type Exchange,
  envelopeOf,
  type NoResponse,
  requestOf,
  type SandboxCall
} from "@workshop/testers/internal"
import { Effect } from "effect"
import { type CommandRefused, refuse } from "../CommandRefused.js"

/** Makes a call to a server with a sandbox. Each refusal has advice. */
export type AskSandbox = SandboxCall<CommandRefused | NoResponse>

/** The address of a server with a sandbox, from the flags. */
interface SandboxAddress {
  readonly baseUrl: string
  readonly token: string | null
  /** The name of a field as the person typed it; by default the API's name. */
  readonly nameOf?: (field: string) => string
}

/** The thing that is missing, if a server responded 404: the whole sandbox, the shop of the call, or something else. */
type Missing = "sandbox" | "shop" | "other"

/** The refusal that names the reason why a server refuses a call, with advice. `missing` is the reason for a 404. */
export const sandboxRefusal = (
  { baseUrl, token, nameOf = (field) => field }: SandboxAddress,
  { url, response }: Exchange,
  missing: Missing = "sandbox"
): CommandRefused => {
  const { status } = response
  const error = envelopeOf(response)?.error
  if (status === 404 && missing === "shop")
    return refuse(`The server at ${baseUrl} has no shop with this id. Check the id.`)
  if (status === 404 && missing === "sandbox")
    return refuse(
      `The server at ${baseUrl} has no sandbox. Start the server with workshop serve --sandbox --store memory.`
    )
  if (status === 401 || status === 403) {
    if (!new URL(url).pathname.startsWith("/sandbox"))
      return refuse(`The server at ${baseUrl} does not know this key. Give --key one of the shop's active API keys.`)
    const what = token === null ? "requires a token" : "refused the given token"
    return refuse(
      `The sandbox at ${baseUrl} ${what}. Set WORKSHOP_SANDBOX_TOKEN to the token with which the server was started.`
    )
  }
  const issues = (error?.details?.issues ?? []) as ReadonlyArray<{ readonly field: string; readonly message: string }>
  const why = issues.map(({ field, message }) => `${nameOf(field)} ${message}`).join("; ") || error?.message
  return refuse(
    `The server at ${baseUrl} responded ${status}: ${why?.replace(/\.$/, "") ?? "check that a workshop service runs there"}.`
  )
}

/** Finds out what is missing after a 404, by the statuses of further calls, because a 404 has no reason. */
const findMissing = (api: Api, path: string, id: string): Effect.Effect<Missing, NoResponse> => {
  const responds = (name: CallName, id?: string) => {
    const request = requestOf(name, id)
    return Effect.map(api.call(request.method, request.path), (exchange) => dataOf(exchange) !== undefined)
  }
  return Effect.gen(function* () {
    if (!(yield* responds("read clock"))) return "sandbox"
    return path.startsWith("/sandbox/shops/") && !(yield* responds("get webhook", id)) ? "shop" : "other"
  })
}

/** Creates the function that calls a server with a sandbox. */
export const makeAskSandbox = (address: SandboxAddress): AskSandbox => {
  const api = new Api(address.baseUrl, { sandboxToken: address.token })
  return <A>(name: CallName, id = "", { body, query = {}, key }: CallParts = {}) =>
    Effect.gen(function* () {
      const { method, path } = requestOf(name, id)
      const search = new URLSearchParams(query).toString()
      const exchange = yield* api.call(method, search === "" ? path : `${path}?${search}`, { bearer: key, body })
      const data = dataOf<A>(exchange)
      if (data !== undefined) return data
      const missing = exchange.response.status === 404 ? yield* findMissing(api, path, id) : undefined
      return yield* sandboxRefusal(address, exchange, missing)
    })
}
