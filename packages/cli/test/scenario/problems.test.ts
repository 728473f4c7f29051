import { problemLines } from "@workshop/cli/scenario/Report"
import { readScenario } from "@workshop/cli/scenario/readScenario"
import { Either } from "effect"
import { describe, expect, it } from "vitest"

/** Everything that is wrong with a file, as it is printed. */
const wrong = (text: string): ReadonlyArray<string> => {
  const read = readScenario("a.yaml", text)
  return Either.isLeft(read) ? problemLines("a.yaml", read.left) : []
}

const steps = (...lines: ReadonlyArray<string>): string => ["name: x", "steps:", ...lines].join("\n")

describe("a scenario that makes no sense is refused, with file, line, column, path and what was expected (contract §11)", () => {
  it("tells all problems at once, in the order of the file", () => {
    const text = `name: x
sections: 3
given:
  shops: { lac: { webhok: true }, la c: {} }
  clients: { amira: { phone: +21620123456, knows: [$lak] } }
steps:
  - creat ticket: {}
  - advance: 60 days
  - set status: { ticket: $lac, status: ready }
    expects: 201
  - {}
`
    expect(wrong(text)).toEqual([
      'a.yaml:2:1 sections is not known here; did you mean "section"?',
      'a.yaml:4:19 given.shops.lac.webhok is not known here; did you mean "webhook"?',
      "a.yaml:4:35 given.shops.la c is no name: use letters, digits and _, without a $.",
      'a.yaml:5:30 given.clients.amira.phone must be text: put it in quotes, such as "+21620123456".',
      'a.yaml:5:52 given.clients.amira.knows.0 $lak stands for nothing yet; did you mean "lac"?',
      'a.yaml:7:5 steps.0.creat ticket is not known here; did you mean "create ticket"?',
      "a.yaml:8:14 steps.1.advance must be a length of time such as 60d, 23h59m or 1ms.",
      'a.yaml:10:5 steps.2.expects is not known here; did you mean "expect"?',
      "a.yaml:11:5 steps.3 does nothing: a step has one act, such as create ticket."
    ])
  })

  it.each([
    ["", "a.yaml:1:1 The file must be an object."],
    ["- a", "a.yaml:1:1 The file must be an object."],
    ["name: x\nsteps: []", "a.yaml:2:8 steps.0 is required."],
    ["steps:\n  - ping: {}", "a.yaml:1:1 name is required."],
    ["name: 3\nsteps:\n  - ping: {}", "a.yaml:1:7 name must be text: put it in quotes."]
  ])("%j", (text, line) => {
    expect(wrong(text)).toEqual([line])
  })

  it.each([
    ["  - ping: {}\n\t- ping: {}", /^a\.yaml:4:1 The file is no YAML: .*; indent with spaces, not with tabs\.$/],
    [
      "  - ping: {}\n    ping: {}",
      /^a\.yaml:4:5 The file is no YAML: .*; this name is there twice: keep one of them\.$/
    ],
    [
      `  - create ticket: { service: \${x} }`,
      /^a\.yaml:3:32 The file is no YAML: .*; a text with { } \[ \] > or # in it needs quotes\.$/
    ]
  ])("what is no YAML: %j", (text, line) => {
    expect(wrong(steps(text))).toEqual([expect.stringMatching(line)])
  })

  it.each([
    [
      "  - ping: {}\n    advance: 1d",
      "a.yaml:3:5 steps.0 does ping and advance at once: make a step of each, or put them under together."
    ],
    [
      "  - get ticket: $boots",
      "a.yaml:3:17 steps.0.get ticket $boots stands for nothing yet: name it before with as, or under given."
    ],
    [
      "  - create ticket: { service: $any }",
      "a.yaml:3:31 steps.0.create ticket.service $any stands for any such value, so it has its place only where something is expected."
    ],
    ["  - ping: {}\n    as: now", "a.yaml:4:9 steps.0.as now has a meaning of its own: take another name."],
    ["  - ping: {}\n    as: shop", "a.yaml:4:9 steps.0.as shop is given already: take another name."],
    [
      "  - expect events: [{ data: { $lenght: 1 } }]",
      'a.yaml:3:31 steps.0.expect events.0.data.$lenght is no way to expect something; did you mean "$length"?'
    ],
    [
      "  - expect events: []\n    expect: 200",
      "a.yaml:4:5 steps.0.expect is expect events already: what you expect stands behind that."
    ],
    ["  - ping: {}\n    key: $shop", "a.yaml:4:5 steps.0.key says nothing to ping: only calls of the API have a key."],
    [
      "  - ping: {}\n    statuses: { 200: 1 }",
      "a.yaml:4:5 steps.0.statuses counts the answers of repeated steps: add repeat, or use expect."
    ],
    [
      "  - together: [{ ping: {} }]\n    expect: 200",
      "a.yaml:4:5 steps.0.expect belongs to the steps within together."
    ],
    [
      "  - ping: {}\n    expect: 4O9",
      "a.yaml:4:13 steps.0.expect must be a status such as 201, a status and its reason such as 409 REOPEN_WINDOW, or fields of the answer."
    ],
    [
      "  - receiver: sulk",
      "a.yaml:3:15 steps.0.receiver must be a status such as 200 or 410, one of redirect, cut, silent, endless, or { answers, times, delay }."
    ],
    [
      "  - get shop: {}\n    idempotency_key: k",
      "a.yaml:4:5 steps.0.idempotency_key says nothing to get shop: only create ticket, add stamps, redeem reward have one."
    ],
    ["  - ping: {}\n    shop: shop", "a.yaml:4:11 steps.0.shop shop needs a dollar before it: write $shop."],
    [
      "  - create ticket: {}\n    as: hem\n  - set status: { ticket: hem, status: ready }",
      "a.yaml:5:27 steps.1.set status.ticket hem needs a dollar before it: write $hem."
    ],
    [
      "  - together:\n      - ping: {}\n        as: now",
      "a.yaml:5:13 steps.0.together.0.as now has a meaning of its own: take another name."
    ],
    ["  - ping: {}\n    repeat: 0", "a.yaml:4:13 steps.0.repeat must be a whole number from 1 to 1000."],
    ["  - ping: { now: true }", "a.yaml:3:18 steps.0.ping.now has no place here: write {} and no more."],
    ["  - ping: {}\n    expect: { data: /(/ }", "a.yaml:4:21 steps.0.expect.data /(/ is no regular expression."],
    [
      "  - create ticket: { service: $12 }",
      "a.yaml:3:31 steps.0.create ticket.service $12 is no reference: write $ticket.number or $now + 60d; a text that starts with a dollar starts with two."
    ]
  ])("%j", (text, line) => {
    expect(wrong(steps(text))).toEqual([line])
  })
})
