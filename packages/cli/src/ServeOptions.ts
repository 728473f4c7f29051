import { HelpDoc, Options, ValidationError } from "@effect/cli"
import { Config, Effect, Either } from "effect"

/** Where tickets are kept. */
export const STORES = ["memory", "embedded", "postgres"] as const

/** Reads a flag's text, or says in one sentence what it must be. */
type Reader<A> = (text: string) => Either.Either<A, string>

interface Flag<A> {
  readonly name: string
  /** What stands for the value in the help. */
  readonly placeholder: string
  readonly description: string
  readonly read: Reader<A>
  /** As it would be written. */
  readonly fallback: string
}

const variable = (name: string): string => `WORKSHOP_${name.toUpperCase().replaceAll("-", "_")}`

const shown = (name: string, description: string, fallback?: string): string =>
  `${description}${fallback === undefined ? "" : ` Default: ${fallback}.`} Environment: ${variable(name)}.`

const value = <A>({ name, placeholder, description, read, fallback }: Flag<A>): Options.Options<A> =>
  Options.text(name).pipe(
    Options.withPseudoName(placeholder),
    Options.withDescription(shown(name, description, fallback === "" ? undefined : fallback)),
    Options.withFallbackConfig(Config.string(variable(name))),
    Options.withDefault(fallback),
    Options.mapEffect((text) =>
      Effect.mapError(read(text), (must) =>
        ValidationError.invalidValue(HelpDoc.p(`--${name} (or ${variable(name)}) ${must}, and not "${text}".`))
      )
    )
  )

const TRUE = /^(1|true|yes|on)$/i
const FALSE = /^(0|false|no|off|)$/i

const flag = (name: string, description: string): Options.Options<boolean> =>
  Options.boolean(name).pipe(
    Options.withDescription(shown(name, description)),
    Options.map((given): boolean | undefined => (given ? true : undefined)),
    Options.mapEffect((given) =>
      given === undefined
        ? Effect.flatMap(Effect.orDie(Config.withDefault(Config.string(variable(name)), "")), (text) => {
            if (TRUE.test(text)) return Effect.succeed(true)
            if (FALSE.test(text)) return Effect.succeed(false)
            const must = `${variable(name)} must be true or false, and not "${text}".`
            return Effect.fail(ValidationError.invalidValue(HelpDoc.p(must)))
          })
        : Effect.succeed(given)
    )
  )

const storeOf: Reader<(typeof STORES)[number]> = (text) => {
  const store = STORES.find((name) => name === text)
  return store === undefined ? Either.left(`must be one of ${STORES.join(", ")}`) : Either.right(store)
}

const hostOf: Reader<string> = (text) =>
  /^[^\s/]+$/.test(text) ? Either.right(text) : Either.left("must be an address of this machine, such as 127.0.0.1")

const portOf: Reader<number> = (text) =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535
    ? Either.right(Number(text))
    : Either.left("must be a port from 0 to 65535")

/** The flags of `workshop serve` (contract §11). */
export const serveOptions = {
  store: value({
    name: "store",
    placeholder: "name",
    description: "Where tickets are kept; memory keeps nothing across restarts, and no other is offered yet.",
    read: storeOf,
    fallback: "memory"
  }),
  host: value({
    name: "host",
    placeholder: "address",
    description: "The address to listen on; 0.0.0.0 listens on all.",
    read: hostOf,
    fallback: "127.0.0.1"
  }),
  port: value({
    name: "port",
    placeholder: "number",
    description: "The port to listen on; 0 takes a free one.",
    read: portOf,
    fallback: "4010"
  }),
  sandbox: flag("sandbox", "Serve /sandbox too: all that the app, the owner, the client and the clock would do."),
  sandboxToken: value({
    name: "sandbox-token",
    placeholder: "text",
    description: "Asked of every call of the sandbox as its bearer token; must be set where other machines reach it.",
    read: (text) => Either.right(text === "" ? null : text),
    fallback: ""
  }),
  demo: flag("demo", "Furnish the first shop: a programme, clients, and tickets in many states."),
  trustProxy: flag("trust-proxy", "Believe the last address of X-Forwarded-For: only behind a proxy that sets it.")
}
