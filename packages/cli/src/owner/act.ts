import { userInfo } from "node:os"
import { Actor, Entropy, InvalidInput, Profanity, Workshop } from "@workshop/core"
import type { Layer as LayerType } from "effect"
import { Effect, Layer } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { choiceOf, type StoreChoice, storeLayer } from "../StoreChoice.js"
import { type Output, printOutput } from "../terminal/Output.js"
import { Pasting, writtenFor } from "../terminal/Pasting.js"
import { flagOf } from "./fromFlags.js"

/** The flags that every command against a database has, as they were read. */
export interface AskedDatabase {
  readonly databaseUrl: string | null
  readonly dataDir: string
  readonly noMigrate: boolean
  readonly secretsKey: ReadonlyArray<string>
  readonly actor: string | null
  readonly json: boolean
}

/** All services over the chosen store. */
export const services = (choice: StoreChoice) =>
  Workshop.layer.pipe(
    Layer.provideMerge(storeLayer(choice)),
    Layer.provide(Profanity.layer),
    Layer.provide(Entropy.layer)
  )

/** What the commands may call. */
export type Services = LayerType.Layer.Success<ReturnType<typeof services>>

const advice: Readonly<Record<string, string>> = {
  ShopNotFound: "workshop shop list shows all shops",
  KeyNotFound: "workshop key list shows a shop's keys",
  TooManyKeys: "workshop key list shows them, workshop key revoke revokes one",
  WebhookNotSet: "workshop webhook set gives it one",
  OfferNotFound: "workshop client offers shows a client's offers",
  StoreUnavailable: "check --database-url, and that the database runs"
}

/** Why the service would not, in one sentence that says what to do. */
export const inOneSentence = (refusal: {
  readonly _tag: string
  readonly message: string
  readonly remedy?: string | undefined
}): CommandRefused => {
  if (refusal instanceof CommandRefused) return refusal
  if (refusal instanceof InvalidInput) {
    const issues = refusal.issues.map(({ field, message }) => `${flagOf(field)} ${message}`)
    return new CommandRefused({ message: `${issues.join("; ")}.` })
  }
  const what = refusal.remedy === undefined ? advice[refusal._tag] : undefined
  return new CommandRefused({ message: `${refusal.message}${what === undefined ? "" : `: ${what}`}.` })
}

/** Who runs the command. A user of a container may have a number and no name. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? "")
  }
}

/** Runs an act of the owner's against the database, and says what came of it. */
export const act = <E extends { readonly _tag: string; readonly message: string }>(
  asked: AskedDatabase,
  program: Effect.Effect<Output, E, Services>
): Effect.Effect<void, CommandRefused> =>
  Effect.mapError(program, inOneSentence).pipe(
    Effect.provideService(Actor, asked.actor ?? `cli:${userName()}`),
    Effect.provideService(Pasting, writtenFor(choiceOf(asked), process.env)),
    Effect.provide(services({ ...choiceOf(asked), isShared: true })),
    Effect.flatMap((said) => printOutput(said, asked.json))
  )
