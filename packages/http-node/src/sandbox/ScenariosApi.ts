import { BodyLimit, FailureBodyOf, type GroupHandlers } from "@workshop/core/internal/http"
import { Effect, Schema } from "effect"
import { dataOnly, endpoint, groupOf } from "./endpoints.js"

/** Runs the text of a scenario, and returns the report of `workshop scenario run --json`. */
export type ScenarioRunner = (text: string) => Effect.Effect<Readonly<Record<string, unknown>>>

const MAX_BODY_BYTES = 1024 * 1024

const Report = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  identifier: "ScenarioReport"
})

/** The endpoint that runs a scenario (Specification, Sandbox). */
export class ScenariosApi extends groupOf(
  "scenarios",
  ["Scenarios", "Scenarios, each of which runs in its own sandbox"],
  endpoint("POST", "runScenario", "/scenarios/run", Report, [
    "Run a scenario",
    "Runs a scenario in its own sandbox, without effect on this one, and returns the report of `workshop scenario run --json`. If the text is not a valid scenario, nothing runs, and `problems` in the report lists each problem with its line. The response is a 404 if the program that serves the sandbox cannot run scenarios. `workshop serve` can run them."
  ])
    .setPayload(
      Schema.Struct({
        scenario: Schema.String.annotations({ description: "The text of a scenario file, as YAML or JSON" })
      }).annotations({ identifier: "ScenarioInput" })
    )
    .annotate(BodyLimit, MAX_BODY_BYTES)
    .addError(FailureBodyOf("NOT_FOUND"))
) {}

/** Runs scenarios with `run`; without it, the endpoint is a 404. */
export const scenariosHandlers = (run: ScenarioRunner | undefined): GroupHandlers<typeof ScenariosApi, void> => ({
  runScenario: ({ payload }) =>
    run === undefined ? Effect.fail({ _tag: "RouteNotFound" } as const) : Effect.map(run(payload.scenario), dataOnly)
})
