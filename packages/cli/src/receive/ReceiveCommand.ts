import { hasSecretPrefix } from "@workshop/core/internal"
import { Effect } from "effect"
import { refuse } from "../CommandRefused.js"
import { command } from "../terminal/commands.js"
import { type ReceiveFlags, receiveOptions } from "./ReceiveOptions.js"

const checkFlags = ({ secret, register, status, redirect, gone, endless, forwardTo }: ReceiveFlags) => {
  if (secret.length === 0 && register === null) {
    return refuse(
      "Without the webhook's secret no signature can be verified. Set WORKSHOP_SECRET, or use --register http://127.0.0.1:4010 to point a sandbox shop here."
    )
  }
  if (!secret.every(hasSecretPrefix))
    return refuse(
      "A webhook's secret starts with whsec_. Set WORKSHOP_SECRET to the complete secret, including whsec_."
    )
  const replyFlags = [status !== 200, redirect !== null, gone, endless, forwardTo !== null].filter((isAsked) => isAsked)
  return replyFlags.length > 1
    ? refuse(
        "The receiver can send only one kind of response. Give only one of --status, --redirect, --gone, --endless and --forward-to."
      )
    : undefined
}

/** `workshop receive` (Specification, Commands). */
export const receiveCommand = command({
  name: "receive",
  examples: [
    "WORKSHOP_SECRET_FILE=secret.txt workshop receive",
    "workshop receive --register http://127.0.0.1:4010",
    "workshop receive --register http://127.0.0.1:4010 --forward-to http://127.0.0.1:3000/webhooks",
    "WORKSHOP_KEY_FILE=key.txt workshop receive --register http://127.0.0.1:4010 --fail-share 0.3 --seed 7"
  ],
  options: receiveOptions,
  run: (flags) =>
    Effect.gen(function* () {
      const refusal = checkFlags(flags)
      if (refusal !== undefined) return yield* refusal
      const { receive } = yield* Effect.promise(() => import("./receive.js"))
      return yield* receive(flags)
    })
})
