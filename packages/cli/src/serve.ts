import { production, sandbox } from "@workshop/core/domain/WebhookAddress"
import type { Branch } from "@workshop/core/http/Branch"
import { pipeline } from "@workshop/core/http/Pipeline"
import { workshopBranch } from "@workshop/core/http/workshopBranch"
import { Entropy } from "@workshop/core/ports/Entropy"
import { Closer } from "@workshop/core/services/Closer"
import { Dispatcher } from "@workshop/core/services/Dispatcher"
import { Messenger } from "@workshop/core/services/Messenger"
import * as Notifiers from "@workshop/core/services/Notifiers"
import * as Profanity from "@workshop/core/services/Profanity"
import { SandboxClock } from "@workshop/core/services/SandboxClock"
import { TimeWalk } from "@workshop/core/services/TimeWalk"
import { layer as workshopLayer } from "@workshop/core/services/Workshop"
import { type CannotListen, serve as listen } from "@workshop/http-node/NodeServer"
import { pages } from "@workshop/http-node/Pages"
import { sandboxBranch } from "@workshop/http-node/sandbox/sandboxBranch"
import * as NodeSender from "@workshop/http-node/sender/NodeSender"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { Console, Effect, Layer } from "effect"
import { demoSteps, furnish } from "./DemoShop.js"
import { nextSteps, openFirstShop } from "./FirstShop.js"
import { CommandRefused } from "./OneSentence.js"
import type { Asked } from "./ServeCommand.js"

const services = Messenger.Default.pipe(
  Layer.provide(Notifiers.layer),
  Layer.provideMerge(workshopLayer),
  Layer.provideMerge(MemoryStore.layer),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layer)
)

const delivering = Dispatcher.layer().pipe(
  Layer.provide(NodeSender.layer({ policy: production })),
  Layer.provideMerge(services)
)

const sandboxed = TimeWalk.layer([Closer, Dispatcher, Messenger]).pipe(
  Layer.provideMerge(Dispatcher.layer({ isJittered: false })),
  Layer.provide(NodeSender.layer({ policy: sandbox })),
  Layer.provideMerge(services),
  Layer.provideMerge(SandboxClock.layer)
)

const NO_ADDRESS = "is no address of this machine: choose one with --host, such as 127.0.0.1"

const advice: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken: stop what listens there, or choose another with --port (0 takes a free one)",
  EACCES: "may not be listened on: choose a port above 1023 with --port",
  EADDRNOTAVAIL: NO_ADDRESS,
  ENOTFOUND: NO_ADDRESS,
  EAI_AGAIN: NO_ADDRESS
}

const cannotListen = ({ host, port, code, message }: CannotListen) => {
  const what = advice[code ?? ""]
  return new CommandRefused({ message: what === undefined ? `${message}.` : `${host} port ${port} ${what}.` })
}

const isEverywhere = (host: string): boolean => host === "0.0.0.0" || host === "::"

/** How a client on this machine reaches the address listened on. */
const baseOf = (host: string, port: number): string => {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`
}

/** Serves the API, the pages and what else there is, until interrupted. */
const run = <E, R>(asked: Asked, others: Effect.Effect<ReadonlyArray<Branch>, E, R>) =>
  Effect.gen(function* () {
    const first = yield* openFirstShop
    if (asked.demo) yield* furnish(first)
    const branches = [yield* workshopBranch({ isHeld: false }), ...(yield* others), ...(yield* pages)]
    const { port } = yield* Effect.mapError(listen(yield* pipeline(branches), asked), cannotListen)
    yield* Effect.forkScoped((yield* Closer).run)
    yield* Effect.forkScoped((yield* Dispatcher).run)
    yield* Effect.forkScoped((yield* Messenger).run)
    const base = baseOf(asked.host, port)
    yield* Console.log(
      [
        `Listening on ${base}${isEverywhere(asked.host) ? ", and on every other address of this machine" : ""}`,
        "Everything is kept in memory, until this process ends.",
        ...nextSteps(base, first),
        ...(asked.demo ? demoSteps(base, first) : []),
        ...(asked.sandbox ? [`The sandbox is at ${base}/sandbox`] : [])
      ].join("\n")
    )
    return yield* Effect.never
    // At once, so that all of them are done within the ten seconds of a shutdown (contract §11).
  }).pipe(Effect.parallelFinalizers, Effect.scoped)

/** What `workshop serve` does (contract §11). */
export const serve = (asked: Asked) => {
  if (!asked.sandbox) return Effect.provide(run(asked, Effect.succeed([])), delivering)
  const token = asked.sandboxToken
  const others = Effect.map(sandboxBranch({ token, webhookPolicy: sandbox, isHeld: false }), (branch) => [branch])
  return Effect.provide(run(asked, others), sandboxed)
}
