import { userInfo } from "node:os"
import { Actor } from "@workshop/core"
import { Effect } from "effect"
import { optionalFlag } from "./commands.js"

/** The flag that names the person who acts, for the audit log. */
export const actorFlag = optionalFlag(
  "--actor <name>",
  "The actor to record in the audit log. The default is cli: followed by the name of the operating system's user."
)

/** The user that runs the command. A user of a container may have a number and no name. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? "")
  }
}

/** Records acts in the audit log as done by `actor`, or by the system's user if it is null. */
export const withActor = (actor: string | null) => Effect.provideService(Actor, actor ?? `cli:${userName()}`)
