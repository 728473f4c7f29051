import { paintPlain } from "@workshop/core/internal/terminal"
import { runCases, suite } from "@workshop/testers/conform"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { Case } from "../../src/conform/Case.js"
import { ExpectationFailed } from "../../src/conform/Expectations.js"
import {
  type CaseResult,
  closingLines,
  formatCurl,
  htmlReport,
  junitReport,
  reportOf,
  sectionLines
} from "../../src/conform/Report.js"
import { Api, type Exchange } from "../../src/testkit/Api.js"

const exchange: Exchange = {
  method: "POST",
  url: "http://127.0.0.1:4010/v1/tickets?x='y'",
  headers: { Authorization: "Bearer wk_live_secret", "Idempotency-Key": "a $b" },
  body: `{"service":"Ta'lor"}`,
  response: { status: 200, headers: { "request-id": "r1", date: "today" }, body: '{"success":true}' }
}

const one: Case = {
  id: "replay",
  section: "§4",
  rule: "A <repetition> is a 200.",
  anchor: "rule-replay",
  needs: "key",
  run: async () => undefined
}

const results: ReadonlyArray<CaseResult> = [
  { case: { ...one, id: "fine" }, outcome: "passed", duration_ms: 12 },
  { case: one, outcome: "failed", duration_ms: 3, failure: { expected: "status 200", found: "status 201", exchange } },
  { case: { ...one, id: "later", section: "§6" }, outcome: "skipped", duration_ms: 0, because: "needs a sandbox" }
]

const report = reportOf({ base_url: "http://127.0.0.1:4010", with: "key", duration_ms: 1500 }, results, {
  KEY: "wk_live_secret"
})

describe("a request as a curl command", () => {
  it("a curl command can be pasted, even if the request contains quotes", () => {
    expect(formatCurl(exchange, {})).toBe(
      `curl -si -X POST 'http://127.0.0.1:4010/v1/tickets?x='\\''y'\\''' -H 'Authorization: Bearer wk_live_…' -H 'Idempotency-Key: a $b' --data-raw '{"service":"Ta'\\''lor"}'`
    )
  })

  it("a curl command has a variable instead of the operator's key", () => {
    expect(formatCurl(exchange, { KEY: "wk_live_secret" })).toContain(
      "-H \"Authorization: Bearer $KEY\" -H 'Idempotency-Key: a $b'"
    )
  })
})

describe("keys and secrets", () => {
  it("keys and secrets are masked everywhere, including keys that the cases created and keys of other servers", () => {
    const made = {
      ...exchange,
      headers: { authorization: "Bearer of-another-server" },
      body: '{"note":"wk_test_abc-DEF_1","secret":"plain"}',
      response: { status: 201, headers: {}, body: '{"key":"sk_other","secret":"whsec_abc"}' }
    }
    const failure = { expected: "wk_live_1", found: '{"key": "sk_other"}', exchange: made }
    const failed: CaseResult = { case: one, outcome: "failed", duration_ms: 1, failure }
    const whole = JSON.stringify(reportOf({ base_url: "http://x", with: "sandbox", duration_ms: 1 }, [failed], {}))
    for (const secret of ["of-another-server", "abc-DEF_1", "plain", "sk_other", "whsec_abc", "wk_live_1"]) {
      expect(whole).not.toContain(secret)
    }
    expect(whole).toContain("Bearer …")
  })
})

describe("failures by cause", () => {
  const failed = (id: string, path: string, found = "status 404"): CaseResult => {
    const response = { status: 404, headers: {}, body: "" }
    const failure = { expected: "status 200", found, exchange: { ...exchange, url: `http://x${path}`, response } }
    return { case: { ...one, id }, outcome: "failed", duration_ms: 1, failure }
  }
  const id = "01980000-0000-7000-8000-000000000000"
  const many = [
    failed("a", "/v1/tickets?limit=1"),
    failed("b", `/v1/tickets/${id}/status`),
    failed("c", "/v1/tickets"),
    failed("d", `/v1/tickets/${id.replace("0", "1")}/status`),
    failed("e", "/v1/tickets", "another thing"),
    failed("f", "/v1/tickets")
  ]
  const grouped = reportOf({ base_url: "http://x", with: "key", duration_ms: 1 }, many, {})

  it("failures are grouped if the same request fails in the same way, the most frequent first", () => {
    expect(grouped.causes).toEqual([
      { request: "POST /v1/tickets: HTTP 404", found: "status 404", cases: ["a", "c", "f"] },
      { request: "POST /v1/tickets/{id}/status: HTTP 404", found: "status 404", cases: ["b", "d"] },
      { request: "POST /v1/tickets: HTTP 404", found: "another thing", cases: ["e"] }
    ])
  })

  it("each cause of failures is shown once in full, with the other cases by name", () => {
    const lines = closingLines(grouped, paintPlain)
    expect(lines).toContain("6 failures with 3 causes:")
    expect(lines.filter((line) => line.startsWith("✗ §4"))).toEqual(["✗ §4 a", "✗ §4 b", "✗ §4 e"])
    expect(lines).toContain("  2 more failed in the same way: c, f")
  })
})

describe("reports", () => {
  it("a report counts by section, and shows for each failure the broken rule, the request and the response", () => {
    expect(report.counts).toEqual({ passed: 1, failed: 1, skipped: 1 })
    expect(report.sections.map(({ section, counts }) => [section, counts.failed])).toEqual([
      ["§4", 1],
      ["§6", 0]
    ])
    expect(report.sections[0]?.cases[1]?.failure).toEqual({
      expected: "status 200",
      found: "status 201",
      curl: expect.stringContaining('"Authorization: Bearer $KEY"'),
      answer: 'HTTP 200\nrequest-id: r1\n\n{"success":true}'
    })
    expect(JSON.stringify(report)).not.toContain("wk_live_secret")
  })

  it("a report on the terminal has a line per section, then each failure in full, and why cases were skipped", () => {
    expect(report.sections.flatMap((section) => sectionLines(section, paintPlain))).toEqual([
      `§4      ${"Endpoints".padEnd(46)}✓ 1  ✗ 1`,
      "  ✗ replay  A <repetition> is a 200.",
      `§6      ${"Events, signatures, deliveries".padEnd(46)}- 1`
    ])
    const closing = closingLines(report, paintPlain).join("\n")
    expect(closing).toContain(
      "  breaks    docs/specification.md#rule-replay\n  expected  status 200\n  found     status 201"
    )
    expect(closing).toContain("\n    curl -si -X POST ")
    expect(closing).toMatch(/\n1 skipped: needs a sandbox\.\n3 cases in 1\.5 s: ✓ 1 {2}✗ 1 {2}- 1$/)
  })

  it("a report in JUnit XML lists failures and skips, with everything escaped", () => {
    const xml = junitReport(report)
    expect(xml).toContain(
      '<testsuites name="workshop conform" tests="3" failures="1" errors="0" skipped="1" time="1.500">'
    )
    expect(xml).toContain('<testcase classname="§4" name="replay: A &lt;repetition&gt; is a 200." time="0.003">')
    expect(xml).toContain(
      '<failure message="expected status 200, but found status 201">breaks docs/specification.md#rule-replay'
    )
    expect(xml).toContain('<skipped message="needs a sandbox"/>')
    expect(xml.match(/<testcase /g)).toHaveLength(3)
    expect(xml.match(/<\/testcase>/g)).toHaveLength(3)
  })

  it("a report in HTML is one page that loads no other files", () => {
    const html = htmlReport(report)
    expect(html).toContain("breaks 1 rule")
    expect(html).toContain("A &lt;repetition&gt; is a 200.")
    expect(html).not.toMatch(/<(script src|link|img|iframe)|src=|@import|url\(/)
  })
})

const target = (fetch: (request: Request) => Promise<Response>) => ({
  api: new Api("http://workshop.test", { fetch }),
  key: "wk_live_secret",
  sandbox: null
})

const ok = () => Response.json({ success: true, data: {} })

describe("a run with a key and without a sandbox", () => {
  it("cases that need a sandbox are skipped, and the report says so", async () => {
    const cases = suite.filter(({ section }) => section === "sandbox")
    const found = await Effect.runPromise(
      runCases(
        target(async () => ok()),
        cases
      )
    )
    expect(new Set(found.map(({ outcome, because }) => `${outcome}: ${because}`))).toEqual(
      new Set(["skipped: the case needs a sandbox, because it cannot test its rule with a key alone"])
    )
  })

  it("a run waits for a limit to reset, and repeats the request", async () => {
    let asked = 0
    const limited = async () => {
      asked += 1
      return asked === 1 ? new Response("{}", { status: 429, headers: { "RateLimit-Reset": "0" } }) : ok()
    }
    const run: Case["run"] = async (shop) => {
      ;(await shop.get("/shop")).expectOk()
    }
    const [found] = await Effect.runPromise(runCases(target(limited), [{ ...one, run }]))
    expect([found?.outcome, asked]).toEqual(["passed", 2])
  })
})

describe("a run", () => {
  it("a run continues after a failed case, and shows the last request of the case", async () => {
    const broken: Case["run"] = async (shop) => {
      await shop.get("/shop")
      throw new ExpectationFailed({ expected: "this", actual: "that" })
    }
    const cases = [{ ...one, run: broken }, one]
    const found = await Effect.runPromise(
      runCases(
        target(async () => ok()),
        cases
      )
    )
    expect(found.map(({ outcome }) => outcome)).toEqual(["failed", "passed"])
    expect(found[0]?.failure).toMatchObject({ expected: "this", exchange: { url: "http://workshop.test/v1/shop" } })
  })

  it("a run ends with an error that names the address if the server no longer responds", async () => {
    const gone = () =>
      Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) }))
    const run: Case["run"] = async (shop) => {
      await shop.get("/shop")
    }
    const lost = await Effect.runPromise(Effect.flip(runCases(target(gone), [{ ...one, run }])))
    expect(lost.message).toBe(
      "No response came from http://workshop.test/v1/shop (ECONNREFUSED). Check that the server runs there, or give its address with --base-url."
    )
  })
})

describe("the cases", () => {
  it("all cases have different ids, and the title of each is a sentence", () => {
    expect(new Set(suite.map(({ id }) => id)).size).toBe(suite.length)
    expect(suite.filter(({ rule }) => !/[.]$/.test(rule)).map(({ id }) => id)).toEqual([])
  })
})
