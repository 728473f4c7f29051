import { Entropy, Profanity } from "@workshop/core"
import { paintPlain } from "@workshop/core/internal/terminal"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, ManagedRuntime } from "effect"
import { layer as workshop } from "../../../core/src/services/Workshop.js"
import { CommandRefused } from "../../src/CommandRefused.js"
import type { Services } from "../../src/owner/ownerCommand.js"
import * as shops from "../../src/owner/ShopCommand.js"
import { Asker } from "../../src/terminal/confirm.js"
import type { Output } from "../../src/terminal/Output.js"

const layer = workshop.pipe(
  Layer.provideMerge(MemoryStore.layer),
  Layer.provide(Profanity.layer),
  Layer.provide(Entropy.layer)
)

/** The flags that create a shop. */
export const lac = {
  ...{ name: "Atelier Lac", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" },
  ...{ tracking_base_url: null as string | null, languages: [] }
}

/** The output of a command: `data` for programs, `lines` for people. */
export interface CommandOutput {
  // biome-ignore lint/suspicious/noExplicitAny: the output is untyped JSON
  readonly data: any
  readonly lines: ReadonlyArray<string>
}

/** Runs the operator's commands on a new memory store. */
export class OwnerCli implements AsyncDisposable {
  readonly #runtime = ManagedRuntime.make(layer)
  /** The reply that the person at the terminal types to a question; null if there is no terminal. */
  answer: string | null = null
  readonly asked: Array<string> = []

  #run<A, E>(program: Effect.Effect<A, E, Services>) {
    const asker = (question: string) => {
      this.asked.push(question)
      return Effect.succeed(this.answer)
    }
    return this.#runtime.runPromise(Effect.provideService(program, Asker, asker))
  }

  /** Runs a command. */
  async run<E>(program: Effect.Effect<Output, E, Services>): Promise<CommandOutput> {
    const { data, lines } = await this.#run(program)
    const look = { paint: paintPlain, width: Number.POSITIVE_INFINITY }
    return { data: JSON.parse(JSON.stringify(data)), lines: lines(look) }
  }

  /** Runs a command that is refused, and returns the message of the refusal. */
  refusal<E extends { readonly message: string }>(program: Effect.Effect<Output, E, Services>): Promise<string> {
    const said = Effect.match(program, {
      onSuccess: () => "The command succeeded",
      onFailure: (error) => (error instanceof CommandRefused ? error.message : `another error: ${error.message}`)
    })
    return this.#run(said)
  }

  /** Runs a program that is not a command, such as a change by the shop between two commands. */
  meanwhile<A, E>(program: Effect.Effect<A, E, Services>): Promise<A> {
    return this.#run(program)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#runtime.dispose()
  }
}

/** Creates the shop, and returns its id. */
export const open = async (cli: OwnerCli): Promise<string> => (await cli.run(shops.createShop(lac))).data.id
