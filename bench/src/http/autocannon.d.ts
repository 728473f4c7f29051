declare module "autocannon" {
  export interface Request {
    readonly method: "GET" | "POST"
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }
  interface Options {
    readonly url: string
    readonly connections: number
    readonly amount: number
    readonly sampleInt: number
    readonly setupClient: (client: { setRequests(requests: ReadonlyArray<Request>): void }) => void
  }
  interface Result {
    readonly errors: number
    readonly non2xx: number
  }
  interface Run extends PromiseLike<Result> {
    on(event: "start" | "response", listener: () => void): void
  }
  export default function autocannon(options: Options): Run
}
