import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { reportLines, sectionHeadings, summaryLine } from "../../src/scenario/Report.js"
import { differences, play, steadyReport } from "./playScenario.js"

describe("the report of a failure (Specification, Commands)", () => {
  it("a report has the failed step with its place, each difference, the request and the response, and the steps that were not run", async () => {
    const result = await play(`name: A ready ticket is told from one that is not
section: "3"
steps:
  - create ticket: { service: Hem }
    as: hem
  - title: it cannot be collected yet
    set status: { ticket: $hem, status: collected }
    expect:
      status: 200
      data: { state: collected }
  - ping: {}
`)
    expect(steadyReport(result)).toEqual([
      "\u2717 A ready ticket is told from one that is not (Specification, States; a.yaml)",
      "  \u2713 create ticket service: Hem",
      "  \u2717 it cannot be collected yet",
      "      a.yaml:7:5",
      "      - expected  + actual",
      "      status:",
      "        - 200",
      "        + 409",
      "      data:",
      '        - {"state":"collected"}',
      "        + (absent)",
      "      request: POST /v1/tickets/<id>/status",
      "        authorization: Bearer ...<four>",
      "        {",
      '          "status": "collected"',
      "        }",
      "      response: 409 (request-id <request>)",
      "        {",
      '          "success": false,',
      '          "error": {',
      '            "code": "CONFLICT",',
      '            "message": "A ticket that is workshop cannot become collected. It accepts ready or impossible.",',
      '            "details": {',
      '              "reason": "INVALID_TRANSITION",',
      '              "from": "workshop",',
      '              "to": "collected",',
      '              "allowed": [',
      '                "ready",',
      '                "impossible"',
      "              ],",
      '              "state": "workshop",',
      '              "updated_at": "2026-01-05T09:00:00.000Z"',
      "            }",
      "          }",
      "        }",
      "  - ping (not run)"
    ])
  })

  it("a name in place of an id is replaced by the id of its value, in a body and in a query", async () => {
    const result = await play(`name: A name for an id
given:
  shops: { lac: {} }
  clients: { lea: { knows: [$lac] } }
steps:
  - create ticket: { service: Hem, client_id: $lea }
    expect: { data: { client: { id: $lea.id } } }
  - list tickets: { client_id: $lea }
    expect: { data: [{ service: Hem }] }
`)
    expect(result.failure).toBeNull()
  })

  it("a failed observation shows each entry that differs", async () => {
    const result = await play(`name: Events
steps:
  - create ticket: { service: Hem }
  - expect events: [ticket.ready, ticket.created]
`)
    expect(steadyReport(result)).toEqual([
      "\u2717 Events (a.yaml)",
      "  \u2713 create ticket service: Hem",
      "  \u2717 expect events ticket.ready, ticket.created",
      "      a.yaml:4:5",
      "      - expected  + actual",
      "      0:",
      "        - ticket.ready",
      "        + (no such entry among ticket.created)"
    ])
  })

  it("the report says if an observation has no entries", async () => {
    const result = await play("name: x\nsteps:\n  - expect events: [ticket.ready]\n")
    expect(result.failure?.mismatches).toEqual([
      { path: "0", expected: "ticket.ready", actual: "(no such entry among no entries)" }
    ])
  })

  it("the report of a repeated step names the repetition that failed, and the summary counts the steps that were not run", async () => {
    const result = await play(`name: x
steps:
  - create ticket: { service: Hem }
    as: t
  - set status: { ticket: $t, status: ready }
    repeat: 3
  - get shop: {}
`)
    expect(result.failure?.title).toBe("set status ticket: $t, status: ready (time 2 of 3)")
    expect(summaryLine([result], 5)).toBe("1 scenario, 3 steps: 1 failed, 1 step not run (5 ms)")
  })

  it("the title of a step is complete; a terminal shows as much of it as fits", async () => {
    const service = "Hem ".repeat(24).trim()
    const result = await play(`steps:\n  - create ticket: { service: ${service} }\n`)
    const title = `create ticket service: ${service}`
    expect(result.steps).toMatchObject([{ title }])
    expect(reportLines(result)[1]).toBe(`  \u2713 ${title}`)
    expect(reportLines(result, { width: 60 })[1]).toBe(`  \u2713 ${title.slice(0, 53)}...`)
  })

  it("a key is never shown completely", async () => {
    const { failure } = await play("steps:\n  - get shop: {}\n    expect: 201")
    expect(failure?.exchange?.call.headers?.authorization).toMatch(/^Bearer \.\.\..{4}$/)
  })
})

describe("expectations of responses", () => {
  it.each([
    ["expect: 201", "passed"],
    ["expect: 200", ["status: 200 / 201"]],
    ["expect: { data: { state: workshop, item: null } }", "passed"],
    ["expect: { data: { state: ready } }", ["data.state: ready / workshop"]],
    ['expect: { data: { number: "1" } }', ['data.number: "1" / 1']],
    ["expect: { body: { data: { colour: $any } } }", ["body.data.colour: $any / (absent)"]],
    ["expect: { data: { colour: $absent, item: $any } }", "passed"],
    ["expect: { data: { id: $uuid, created_at: $instant, service: $text, number: $number } }", "passed"],
    ["expect: { data: { service: $uuid } }", ["data.service: $uuid / Hem"]],
    ["expect: { data: { service: /^h/i } }", "passed"],
    ["expect: { data: { service: /^h/ } }", ["data.service: /^h/ / Hem"]],
    ["expect: { data: { created_at: $now } }", "passed"],
    [
      "expect: { data: { created_at: $now + 1h } }",
      ["data.created_at: 2026-01-05T10:00:00.000Z ($now + 1h) / 2026-01-05T09:00:00.000Z"]
    ],
    ['expect: { data: { number: "<= 1", created_at: ">= $now" } }', "passed"],
    ['expect: { data: { number: "> 1" } }', ["data.number: > 1 / 1"]],
    [
      'expect: { data: { created_at: "< $now" } }',
      ["data.created_at: < $now (2026-01-05T09:00:00.000Z) / 2026-01-05T09:00:00.000Z"]
    ],
    ["expect: { data: { state: { $not: ready } } }", "passed"],
    ["expect: { data: { state: { $not: workshop } } }", ["data.state: not workshop / workshop"]],
    ["expect: { data: { state: { $one_of: [ready, workshop] } } }", "passed"],
    ["expect: { data: { state: { $one_of: [ready] } } }", ["data.state: one of ready / workshop"]],
    ["expect: { data: { items: { $length: 2 } } }", ["data.items.length: 2 / 0"]],
    [
      "expect: { data: { money: { $exactly: { currency: TND } } } }",
      [
        "data.money.decimals: (absent) / 3",
        "data.money.price_minor: (absent) / null",
        "data.money.deposit_minor: (absent) / null",
        "data.money.remaining_minor: (absent) / null",
        "data.money.before_minor: (absent) / null"
      ]
    ],
    ["expect: { headers: { RateLimit-Remaining: 29 } }", "passed"],
    ["expect: { meta: { replayed: false } }", "passed"],
    ["expect: { error: { code: CONFLICT } }", ['error: {"code":"CONFLICT"} / (absent)']]
  ])("a response is compared with the values and operators of the expectation %j", async (line, found) => {
    expect(await differences(`steps:\n  - create ticket: { service: Hem }\n    ${line}`)).toEqual(found)
  })

  it.each([
    ["", ["status: a success (2xx) / 409 CONFLICT LOYALTY_OFF"]],
    ["expect: { data: $any }", ["status: a success (2xx) / 409 CONFLICT LOYALTY_OFF"]],
    ["expect: 409", "passed"],
    ["expect: 409 CONFLICT", "passed"],
    ["expect: 409 LOYALTY_OFF", "passed"],
    ["expect: 409 NO_REWARD", ["status: 409 NO_REWARD / 409 CONFLICT LOYALTY_OFF"]],
    ["expect: { error: { details: { reason: LOYALTY_OFF } } }", "passed"]
  ])("the code and the reason of a refusal are compared with the expectation %j", async (line, found) => {
    const text = `given: { clients: { amira: { knows: [$shop] } } }\nsteps:\n  - redeem reward: $amira\n    ${line}`
    expect(await differences(text)).toEqual(found)
  })

  it("lists are compared completely and in order, or as their operator says", async () => {
    const of = (expected: string) =>
      differences(`steps:\n  - ping: {}\n  - create ticket: { service: Hem }\n  - expect events: ${expected}`)
    expect(await of("[ping, ticket.created]")).toBe("passed")
    expect(await of("[ping]")).toEqual(["1: (no further entry) / ticket.created"])
    // A missing or additional entry does not shift the comparison of the others.
    expect(await of("[ticket.created]")).toEqual(["0: (no further entry) / ping"])
    expect(await of("[ping, ticket.ready, ticket.created]")).toEqual([
      "1: ticket.ready / (no such entry among ping, ticket.created)"
    ])
    expect(await of("[ping, ticket.ready]")).toEqual(["1.type: ticket.ready / ticket.created"])
    expect(await of("{ $unordered: [ticket.created, ping] }")).toBe("passed")
    expect(await of("{ $unordered: [ticket.created] }")).toEqual(["length: 1 / 2"])
    expect(await of("{ $contains: ticket.created }")).toBe("passed")
    expect(await of("{ $contains: [ticket.created, ticket.created] }")).toEqual([
      "it: an entry ticket.created / no such entry among ping, ticket.created"
    ])
    // The first expectation matches both entries, and must leave ping to the second expectation.
    expect(await of("{ $unordered: [{ id: $uuid }, ping] }")).toBe("passed")
  })
})

describe("names in a scenario", () => {
  it("an `as` names the data or parts of the response; names are replaced in requests and in texts", async () => {
    const text = `
steps:
  - create ticket: { service: Hem, external_ref: a-1 }
    as: hem
  - list tickets: { limit: 1 }
    as: { first: data.0, more: meta.has_more, left: headers.RateLimit-Remaining, status: status }
  - create ticket: { service: "No \${hem.number}, \${first.external_ref}, \${more}", promised_at: $hem.created_at + 1d2h }
    expect: { data: { service: "No 1, a-1, false", promised_at: 2026-01-06T11:00:00.000Z } }
  - create ticket: { service: $$5 }
    expect: { data: { service: $$5 } }
  - create ticket: { service: "\${left} \${status}" }
    expect: { data: { service: 118 200 } }
`
    expect(await differences(text)).toBe("passed")
  })

  it("a missing field of a name is reported with the fields that it has", async () => {
    const text = "steps:\n  - request: { method: GET, path: /v1/shop }\n    as: mine\n  - get ticket: $mine.idd"
    expect(await differences(text)).toEqual([
      "$mine.idd: $mine has no field idd, because it is an object with id, name, currency, decimals, time_zone, scopes"
    ])
  })

  it("a client, which has no key, cannot be named as the key of a step", async () => {
    const text = "given: { clients: { amira: {} } }\nsteps:\n  - get shop: {}\n    key: $amira"
    expect(await differences(text)).toEqual([
      "The step's key $amira is neither a shop nor an API key. Write the name of a shop or of a key."
    ])
  })

  it("`shop` and `key` choose the key of a step, because each shop has its own", async () => {
    const text = `
given: { shops: { lac: {}, other: { keys: { till: [tickets:write] } } } }
steps:
  - get shop: {}
    expect: { data: { id: $lac.id, name: Lac } }
  - get shop: {}
    shop: $other
    expect: { data: { id: $other.id } }
  - get shop: {}
    key: $till
    expect: { data: { id: $other.id, scopes: [tickets:write] } }
  - get shop: {}
    key: null
    expect: 401 UNAUTHENTICATED
`
    expect(await differences(text)).toBe("passed")
  })
})

describe("steps at the same moment, and repeated ones", () => {
  it("the steps under `together` run at the same time: of thirty equal creates one creates a ticket (Specification, Idempotency)", async () => {
    const text = `
steps:
  - together:
      - create ticket: { service: Hem }
        idempotency_key: same
        repeat: 30
    statuses: { 201: 1, 200: 28 }
`
    expect(await differences(text)).toEqual(["statuses: 200: 28, 201: 1 / 200: 29, 201: 1"])
    expect(await differences(text.replace("28", "29"))).toBe("passed")
  })

  it("a repeated step counts from 1, has a new Idempotency-Key each time, and stops at the first failure", async () => {
    const text = `
steps:
  - create ticket: { service: "Job \${n}" }
    repeat: 3
    expect: { data: { number: "< 3" } }
`
    expect(await differences(text)).toEqual(["data.number: < 3 / 3"])
  })

  it("the report names the failed step under `together`", async () => {
    const { failure } = await play("steps:\n  - together:\n      - ping: {}\n      - get shop: {}\n        key: null\n")
    expect(failure).toMatchObject({ line: 5, column: 9, title: "get shop" })
  })
})

describe("the receivers of a scenario", () => {
  it.each([
    ["500", { status: 500, error: "null" }],
    ["redirect", { status: 307, error: "null" }],
    ["cut", { status: "null", error: "reset" }],
    ["silent", { status: "null", error: "timeout" }],
    ["{ answers: 200, delay: 11s }", { status: "null", error: "timeout" }]
  ])("a delivery fails if its receiver is set to %s (Specification, Webhooks)", async (answers, { status, error }) => {
    const attempt = `{ status: ${status}, error: ${error} }`
    const text = `
given: { shops: { lac: { webhook: ${answers} } } }
steps:
  - ping: {}
  - expect deliveries: [{ state: pending, attempts: [${attempt}] }]
`
    expect(await differences(text)).toBe("passed")
  })

  it("a receiver can fail a given number of times, and marks repeated events", async () => {
    const text = `
given: { shops: { lac: { webhook: { answers: 503, times: 2 } } } }
steps:
  - ping: {}
  - advance: 1m
  - advance: 5m
  - expect received: [{ answered: 503 }, { answered: 503, again: false }, { answered: 200, sent_at: $now, again: false }]
  - expect deliveries: [{ state: delivered, attempts: { $length: 3 } }]
  - expect new received: []
`
    expect(await differences(text)).toBe("passed")
  })

  it("signatures made with a secret that the receiver lacks are invalid", async () => {
    const text = `
given: { shops: { lac: { webhook: true } } }
steps:
  - request: { method: POST, path: "/sandbox/shops/\${lac.id}/webhook/rotate" }
    key: null
  - advance: 25h
  - ping: {}
  - expect received: [ping]
`
    expect(await differences(text)).toEqual(["0.signature: valid / mismatch"])
    expect(await differences(text.replace("[ping]", "[{ type: ping, signature: mismatch, answered: 400 }]"))).toBe(
      "passed"
    )
  })
})

describe("a webhook of the scenario's own", () => {
  it("a webhook of the scenario's own keeps its address when its secret changes", async () => {
    const text = `
steps:
  - set webhook: { url: "http://127.0.0.1:9/hook" }
    expect: { data: { secret: /^whsec_/ } }
  - rotate secret: {}
  - ping: {}
  - get webhook: {}
    expect: { data: { url: "http://127.0.0.1:9/hook" } }
  - expect deliveries: [{ type: ping, state: pending, attempts: [{ error: connect }] }]
`
    expect(await differences(text)).toBe("passed")
  })
})

describe("a clock that is set to a time of day", () => {
  it("`set clock` moves to the next occurrence of that time of day in the shop's time zone, which may be now", async () => {
    const text = `
given: { shops: { lac: {}, paris: { time_zone: Europe/Paris } } }
steps:
  - set clock: "10:00"
    expect: { data: { now: 2026-01-05T09:00:00.000Z } }
  - set clock: "09:59:59.5"
    expect: { data: { now: 2026-01-06T08:59:59.500Z } }
  - set clock: $now + 90d
  - set clock: "00:00"
    shop: $paris
    expect: { data: { now: 2026-04-06T22:00:00.000Z } }
  - set clock: "24:00"
    expect: 400
`
    expect(await differences(text)).toBe("passed")
  })
})

describe("the service of a run", () => {
  it("a scenario whose `given` is refused says why, and runs no step", async () => {
    const text = "given: { shops: { lac: { currency: money } } }\nsteps:\n  - ping: {}"
    const { failure, steps, passed } = await play(text)
    expect(passed).toBe(false)
    expect(failure?.message).toMatch(/^The request for given\.shops\.lac failed: the service responded 400 .*currency/)
    expect(steps).toMatchObject([{ line: 4, title: "ping", outcome: "not_run" }])
  })

  it("a run against an address without a server fails, and says what to check", async () => {
    const { failure } = await play("steps:\n  - ping: {}", { baseUrl: "http://127.0.0.1:1/v1/" })
    expect(failure?.message).toMatch(
      /^GET http:\/\/127\.0\.0\.1:1\/sandbox\/clock got no response \(.+\)\. Check that the service is running there\.$/
    )
  })

  it("every run has a new service, with the same numbers and the same time", async () => {
    const text =
      "steps:\n  - create ticket: { service: Hem }\n    expect: { data: { number: 1, created_at: 2026-01-05T09:00:00.000Z } }"
    expect(await Promise.all([differences(text), differences(text)])).toEqual(["passed", "passed"])
  })
})

describe("the sections that scenarios name by number", () => {
  it("the specification's headings and the cases have the same numbers of sections", () => {
    const specification = readFileSync(new URL("../../../../docs/specification.md", import.meta.url), "utf8")
    const found = [...specification.matchAll(/^## (.*)\n\nCases: `npx workshop conform --section \u00a7(\d)`/gm)]
    expect(Object.fromEntries(found.map(([, heading, number]) => [number, heading]))).toEqual(sectionHeadings)
  })
})
