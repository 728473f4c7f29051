import { Effect } from "effect"
import { connect } from "../migrate/Session.js"
import { failed } from "./EmbeddedRefused.js"
import type { Place } from "./Place.js"

const NO_SUCH_DATABASE = "3D000"

/** Sees that there is a database of this name: a new cluster has none but its own. */
export const ensureDatabase = (name: string, urlOf: (database: string) => string, { dataDir }: Place) =>
  Effect.scoped(connect(urlOf(name))).pipe(
    Effect.asVoid,
    Effect.catchIf(
      ({ code }) => code === NO_SUCH_DATABASE,
      () =>
        Effect.scoped(Effect.flatMap(connect(urlOf("postgres")), (session) => session.run(`create database ${name}`)))
    ),
    Effect.mapError(({ what }) => failed(dataDir, what))
  )
