import { type ShopId, StoreUnavailable } from "@workshop/core"
import { Cause, Exit } from "effect"
import { storeFailure } from "../connection/PgFailure.js"
import { expiredCommands } from "../observe/PgMetrics.js"
import type { QueuedCommand } from "./CommandQueue.js"

/** Commands of a queue or of a batch. */
export type Commands = ReadonlyArray<QueuedCommand>

/** Fails all commands with the same cause. */
export const failAll = (commands: Commands, cause: Cause.Cause<unknown>): void => {
  for (const { settle } of commands) settle(Exit.failCause(cause))
}

/** The cause of the failure of a command that cannot run now. */
export const unavailable = (message: string) => storeFailure(new Error(message))

const EXPIRED =
  "The command waited five seconds for its turn because its shop or the database is busy. Try again in a moment."

/** The message for a command that did not get its shop's lock in time, with the remedy. */
export const shopLockRemedy = (shop_id: ShopId, waited = "five seconds"): string =>
  `Another transaction held the lock of the shop ${shop_id} for ${waited}, so the command did not run. Commit or roll back sooner. Inside within, do not wait for a command of the same shop that runs outside of within.`

const expiredCause = ({ command }: QueuedCommand, isContended: boolean) =>
  Cause.fail(new StoreUnavailable({ remedy: isContended ? shopLockRemedy(command.shop_id) : EXPIRED }))

/**
 * Fails the expired commands and returns the others. In the contended lane the message names the shop's lock, for which
 * they waited.
 */
export const failExpired = (commands: Commands, isContended: boolean): Commands => {
  const expired = commands.filter((queued) => queued.isExpired())
  expiredCommands.unsafeUpdate(expired.length, [])
  for (const queued of expired) failAll([queued], expiredCause(queued, isContended))
  return commands.filter((queued) => !expired.includes(queued))
}
