import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { ClockMove } from "@workshop/core"
import { SuccessBody } from "@workshop/core/http"
import { Schema } from "effect"

/** The sandbox clock as it is answered. */
const ClockView = Schema.Struct({ now: Schema.String, frozen: Schema.Boolean }).annotations({
  identifier: "SandboxClock"
})

/** The clock: read, moved, stopped (Specification, Sandbox). */
export class ClockApi extends HttpApiGroup.make("clock")
  .add(HttpApiEndpoint.get("read", "/clock").addSuccess(SuccessBody(ClockView)))
  .add(HttpApiEndpoint.post("move", "/clock").setPayload(ClockMove).addSuccess(SuccessBody(ClockView))) {}
