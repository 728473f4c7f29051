import {
  Api,
  type CallName,
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
  readonly base_url: string
  readonly token: string | null
  /** The name of a field as the person typed it; by default that of the API. */
  readonly nameOf?: (field: string) => string
}

/** The refusal that names the reason why a server refuses a call, with advice. */
export const sandboxRefusal = (
  { base_url, token, nameOf = (field) => field }: SandboxAddress,
  { url, response }: Exchange
): CommandRefused => {
  const { status } = response
  const error = envelopeOf(response)?.error
  if (status === 404)
    return error?.message.includes("There is no such shop") === true
      ? refuse(`The server at ${base_url} has no shop with this id. Check the id.`)
      : refuse(
          `The server at ${base_url} has no sandbox. Start the server with workshop serve --sandbox --store memory.`
        )
  if (status === 401 || status === 403) {
    if (!new URL(url).pathname.startsWith("/sandbox"))
      return refuse(`The server at ${base_url} does not know this key. Give --key one of the shop's active API keys.`)
    const what = token === null ? "requires a token" : "refused the given token"
    return refuse(
      `The sandbox at ${base_url} ${what}. Set WORKSHOP_SANDBOX_TOKEN to the token with which the server was started.`
    )
  }
  const issues = (error?.details?.issues ?? []) as ReadonlyArray<{ readonly field: string; readonly message: string }>
  const why = issues.map(({ field, message }) => `${nameOf(field)} ${message}`).join("; ") || error?.message
  return refuse(
    `The server at ${base_url} responded ${status}: ${why?.replace(/\.$/, "") ?? "check that a workshop service runs there"}.`
  )
}

/** Creates the function that calls a server with a sandbox. Each refusal has advice. */
export const makeAskSandbox = (address: SandboxAddress): AskSandbox => {
  const api = new Api(address.base_url, { sandbox_token: address.token })
  return <A>(name: CallName, id = "", body?: unknown, key?: string) => {
    const { method, path } = requestOf(name, id)
    return Effect.flatMap(
      api.call(method, path, { bearer: key, body }),
      (exchange): Effect.Effect<A, CommandRefused> => {
        const data = dataOf<A>(exchange)
        return data === undefined ? sandboxRefusal(address, exchange) : Effect.succeed(data)
      }
    )
  }
}
