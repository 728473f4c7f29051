import { Runtime } from "effect"
import { mustBeFunction, requireOptions } from "../domain/OptionChecks.js"
import { fetchRequest, fetchResponse } from "./FetchMessage.js"
import { type Mountable, type MountOptions, mountOptions, mountPromise } from "./Mount.js"
import type { Pipeline } from "./Pipeline.js"

/**
 * The service as a web-standard `fetch(Request) → Response`, for workers, edge runtimes and frameworks. `addressOf` returns the
 * address of a request, for the limit on requests without a valid key; without it all requests share one address.
 */
export const webHandler =
  (pipeline: Pipeline, runtime: Runtime.Runtime<never>, addressOf: (request: Request) => string = () => "unknown") =>
  async (request: Request): Promise<Response> =>
    fetchResponse(request, await Runtime.runPromise(runtime)(pipeline(fetchRequest(request, addressOf(request)))))

/**
 * The API as a web-standard `fetch`: for Hono, workers, Bun, Deno and other runtimes with `Request` and `Response`. `authenticate`
 * and `addressOf` also get all values that you pass after the request.
 */
export const mountFetch = <Context extends ReadonlyArray<unknown> = []>(
  workshop: Mountable,
  options: MountOptions<Request, Context> = {}
): ((request: Request, ...context: Context) => Promise<Response>) => {
  const { addressOf = () => "unknown", ...rest } = requireOptions("mountFetch", options, {
    ...mountOptions,
    addressOf: mustBeFunction
  })
  const { handle } = mountPromise(workshop, rest)
  return async (request, ...context) => {
    const source = { request, context }
    const received = { ...fetchRequest(request, addressOf(request, ...context)), source }
    return fetchResponse(request, await Runtime.runPromise(workshop.runtime)(handle(received)))
  }
}
