import { Entropy, Profanity } from "@workshop/core"
import { paintPlain } from "@workshop/core/internal/terminal"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, ManagedRuntime } from "effect"
import { layer as workshop } from "../../../core/src/services/Workshop.js"
import { commandRefusal, type ServiceRefusal, type Services } from "../../src/owner/ownerCommand.js"
import * as shops from "../../src/owner/ShopCommand.js"
import { storeWebhookAdmin } from "../../src/owner/StoreWebhookAdmin.js"
import type { WebhookAdmin } from "../../src/owner/WebhookAdmin.js"
import { Asker } from "../../src/terminal/confirm.js"
import type { Output } from "../../src/terminal/Output.js"

const store = workshop.pipe(
  Layer.provideMerge(MemoryStore.layer),
  Layer.provide(Profanity.layer),
  Layer.provide(Entropy.layer)
)

/** The flags that create a shop. */
export const lac = {
  ...{ name: "Atelier Lac", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" },
  ...{ tracking_base_url: null as string | null, languages: [] }
}

/** The flags of `workshop webhook set` other than the shop and the address, as if none was typed. */
export const setFlags = { sandbox: false, webhookPort: [443], enable: false }

/** The output of a command: `data` for programs, `lines` for people. */
export interface CommandOutput {
  // biome-ignore lint/suspicious/noExplicitAny: the output is untyped JSON
  readonly data: any
  readonly lines: ReadonlyArray<string>
}

/** Runs the operator's commands on a new memory store; the webhook commands may run on a server instead. */
export class OwnerCli implements AsyncDisposable {
  readonly #runtime: ManagedRuntime.ManagedRuntime<Services | WebhookAdmin, never>
  /** The reply that the person at the terminal types to a question; null if there is no terminal. */
  answer: string | null = null
  readonly asked: Array<string> = []

  constructor(webhooks: Layer.Layer<WebhookAdmin, never, Services> = storeWebhookAdmin) {
    this.#runtime = ManagedRuntime.make(Layer.provideMerge(webhooks, store))
  }

  #run<A, E>(program: Effect.Effect<A, E, Services | WebhookAdmin>) {
    const asker = (question: string) => {
      this.asked.push(question)
      return Effect.succeed(this.answer)
    }
    return this.#runtime.runPromise(Effect.provideService(program, Asker, asker))
  }

  /** Runs a command. */
  async run<E>(program: Effect.Effect<Output, E, Services | WebhookAdmin>): Promise<CommandOutput> {
    const { data, lines } = await this.#run(program)
    const look = { paint: paintPlain, width: Number.POSITIVE_INFINITY }
    return { data: JSON.parse(JSON.stringify(data)), lines: lines(look) }
  }

  /** Runs a command that is refused, and returns the message that it prints. */
  refusal<E extends ServiceRefusal>(program: Effect.Effect<Output, E, Services | WebhookAdmin>): Promise<string> {
    const printed = Effect.match(program, {
      onSuccess: () => "The command succeeded",
      onFailure: (error) => commandRefusal(error).message
    })
    return this.#run(printed)
  }

  /** Runs a program that is not a command, such as a change by the shop between two commands. */
  meanwhile<A, E>(program: Effect.Effect<A, E, Services | WebhookAdmin>): Promise<A> {
    return this.#run(program)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#runtime.dispose()
  }
}

/** Creates the shop, and returns its id. */
export const open = async (cli: OwnerCli): Promise<string> => (await cli.run(shops.createShop(lac))).data.id
