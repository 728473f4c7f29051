import { inspect } from "node:util"
import { Entropy } from "@workshop/core"
import { Directory } from "@workshop/core/store"
import { Cause, Config, ConfigProvider, Effect, Exit, Layer, Redacted } from "effect"
import { expect, it } from "vitest"
import { MigratedStore, PgStore } from "../src/index.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { runTest } from "./nodes/Node.js"

const started = (config: Parameters<typeof MigratedStore.layerConfig>[0]) =>
  Layer.build(Layer.provide(MigratedStore.layerConfig(config), Entropy.layer))

it("layerConfig reads the store's options from an Effect Config, with Redacted secrets", { timeout: 60_000 }, () =>
  runTest(
    Effect.gen(function* () {
      const { url } = yield* testDatabase
      const config = {
        url: Config.redacted("DATABASE_URL"),
        schema: Config.withDefault(Config.string("SCHEMA"), "workshop")
      }
      for (const store of [PgStore.layerConfig(config), MigratedStore.layerConfig(config)]) {
        const shops = Effect.flatMap(Directory, ({ listShops }) => listShops(null, 1)).pipe(
          Effect.provide(Layer.provide(store, Entropy.layer)),
          Effect.scoped
        )
        const shopsWith = (entries: Record<string, string>) =>
          Effect.withConfigProvider(shops, ConfigProvider.fromMap(new Map(Object.entries(entries))))
        expect(yield* shopsWith({ DATABASE_URL: url })).toEqual([])
        expect(String(yield* Effect.flip(shopsWith({})))).toContain("DATABASE_URL")
      }
    })
  )
)

it("layerConfig refuses plain values, unknown options and a missing object, with a message that says what to pass", () =>
  Effect.gen(function* () {
    for (const store of [PgStore.layerConfig, MigratedStore.layerConfig])
      for (const [config, message] of [
        [
          { url: "postgres://localhost:1/nowhere" },
          'The option url of layerConfig must be a Config, such as Config.redacted("DATABASE_URL"); use layer for plain values'
        ],
        [
          { url: Config.redacted("DATABASE_URL"), schema: "tickets" },
          'The option schema of layerConfig must be a Config, such as Config.string("WORKSHOP_SCHEMA"); use layer for plain values'
        ],
        [
          { url: Config.redacted("DATABASE_URL"), schem: "tickets" },
          "layerConfig has no option schem. Did you mean schema?"
        ],
        ["postgres://localhost:1/nowhere", "layerConfig requires an object of options"]
      ] as const) {
        const built = Layer.build(Layer.provide(store(config as never), Entropy.layer))
        expect(yield* Effect.flip(Effect.scoped(built))).toMatchObject({ _tag: "OptionRefused", message })
      }
  }).pipe(Effect.runPromise))

it("layerConfig refuses a Config of the wrong type, with a message that names the option and the right Config", () =>
  Effect.gen(function* () {
    const url = Config.redacted("URL")
    for (const [config, message] of [
      [
        { url: Config.string("URL") },
        'url of layerConfig has a value of the wrong type; use another Config, such as Config.redacted("DATABASE_URL")'
      ],
      [
        { url, lanes: Config.string("LANES") },
        'lanes of layerConfig has a value of the wrong type; use another Config, such as Config.integer("WORKSHOP_LANES")'
      ],
      [
        { url, secretsKeys: Config.array(Config.string(), "LANES") },
        'secretsKeys of layerConfig has a value of the wrong type; use another Config, such as Config.array(Config.redacted(), "WORKSHOP_SECRETS_KEYS")'
      ]
    ] as const) {
      const provider = ConfigProvider.fromMap(
        new Map([
          ["URL", "postgres://127.0.0.1:1/w"],
          ["LANES", "2"]
        ])
      )
      const built = Effect.scoped(Effect.withConfigProvider(started(config as never), provider))
      expect(yield* Effect.flip(built)).toMatchObject({ _tag: "OptionRefused", message: `The option ${message}` })
    }
  }).pipe(Effect.runPromise))

it("layer refuses a url that is a Config or a Redacted, with a message that refers to layerConfig", () =>
  Effect.gen(function* () {
    for (const url of [Config.redacted("URL"), Redacted.make("postgres://127.0.0.1:1/w")]) {
      const built = Layer.build(Layer.provide(PgStore.layer({ url } as never), Entropy.layer))
      expect(yield* Effect.flip(Effect.scoped(built))).toMatchObject({
        option: "url",
        message:
          "The database address must be a string such as postgres://user:password@host:5432/name. To pass a Config, use layerConfig. Check the store's url."
      })
    }
  }).pipe(Effect.runPromise))

it("the password of a layerConfig url appears neither in the printed layer nor in an error", { timeout: 60_000 }, () =>
  runTest(
    Effect.gen(function* () {
      const config = { url: Config.redacted("DATABASE_URL") }
      const url = "postgres://amira:geheim5f1@127.0.0.1:1/workshop"
      const provider = ConfigProvider.fromMap(new Map([["DATABASE_URL", url]]))
      const loaded = yield* Effect.withConfigProvider(Config.all(config), provider)
      const seen = [loaded, yield* Effect.exit(Effect.scoped(Effect.withConfigProvider(started(config), provider)))]
      const [, exit] = seen
      if (!Exit.isExit(exit) || !Exit.isFailure(exit)) throw new Error("The store started without a database")
      const printed = [
        ...seen.map((one) => inspect(one, { depth: 20, showHidden: true })),
        ...seen.map((one) => JSON.stringify(one)),
        Cause.pretty(exit.cause, { renderErrorCause: true })
      ].join("\n")
      expect(printed).toContain("127.0.0.1:1")
      expect(printed).not.toContain("geheim5f1")
    })
  )
)
