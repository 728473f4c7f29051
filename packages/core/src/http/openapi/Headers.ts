type Refs = Readonly<Record<string, { readonly $ref: string }>>

const whole = { type: "integer", minimum: 0 }

/** Headers of answers, by name. */
export const headers = {
  "RateLimit-Limit": {
    description: "How often the policy allows it in a window. Of several policies, the one with the fewest uses left",
    schema: whole,
    example: 120
  },
  "RateLimit-Remaining": { description: "How many uses are left in this window", schema: whole, example: 117 },
  "RateLimit-Reset": { description: "Seconds until the window ends", schema: whole, example: 42 },
  "Request-Id": {
    description: "Names this request; quote it when something went wrong",
    schema: { type: "string" },
    example: "9f2c6a1be07d4358c1aa20e4"
  },
  "Retry-After": { description: "Seconds after which it is worth another try", schema: whole, example: 42 },
  "WWW-Authenticate": {
    description: "The scheme in which the request must name its key (RFC 9110 §11.6.1)",
    schema: { type: "string" },
    example: "Bearer"
  },
  "Idempotent-Replayed": {
    description: "`true` on a repetition of the first answer, otherwise absent",
    schema: { type: "string", const: "true" },
    example: "true"
  }
} as const

const ref = (...names: ReadonlyArray<keyof typeof headers>): Refs =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const every = ref("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Request-Id")

/** The headers that an answer with this status carries. */
export const headersOf = (status: number, isRepeatable: boolean): Refs => ({
  ...every,
  ...(status === 401 ? ref("WWW-Authenticate") : {}),
  ...(status === 429 || status === 503 ? ref("Retry-After") : {}),
  ...(status === 200 && isRepeatable ? ref("Idempotent-Replayed") : {})
})
