import { readScenario } from "@workshop/testers/scenario"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { problemLines } from "../../src/scenario/Report.js"

/** All problems of a file, as they are printed. */
const wrong = (text: string): ReadonlyArray<string> => {
  const read = readScenario("a.yaml", text)
  return Either.isLeft(read) ? problemLines("a.yaml", read.left) : []
}

const steps = (...lines: ReadonlyArray<string>): string => ["name: x", "steps:", ...lines].join("\n")

describe("an invalid scenario is refused, with file, line, column, path and what was expected (Specification, Commands)", () => {
  it("all problems of a scenario are reported at once, in the order of the file", () => {
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
      'a.yaml:2:1 sections is not a known field; did you mean "section"?',
      'a.yaml:4:19 given.shops.lac.webhok is not a known field; did you mean "webhook"?',
      "a.yaml:4:35 given.shops.la c is not a valid name. Use letters, digits and _, without a $.",
      'a.yaml:5:30 given.clients.amira.phone must be a text. Put it in quotes, such as "+21620123456".',
      'a.yaml:5:52 given.clients.amira.knows.0 $lak is not defined yet; did you mean "lac"?',
      'a.yaml:7:5 steps.0.creat ticket is not a known field; did you mean "create ticket"?',
      "a.yaml:8:14 steps.1.advance must be a length of time such as 60d, 23h59m or 1ms.",
      'a.yaml:10:5 steps.2.expects is not a known field; did you mean "expect"?',
      "a.yaml:11:5 steps.3 has no action. Add an action, such as create ticket."
    ])
  })

  it.each([
    ["", "a.yaml:1:1 The file is empty. Create a scenario to start from with workshop scenario new."],
    ["- a", "a.yaml:1:1 The file must be an object."],
    ["name: x\nsteps: []", "a.yaml:2:8 steps needs at least one step."],
    ["steps:\n  - ping: {}", "a.yaml:1:1 name is required."],
    ["name: 3\nsteps:\n  - ping: {}", "a.yaml:1:7 name must be a text. Put it in quotes."]
  ])("a file that is not a scenario is refused with the first thing that it lacks: %j", (text, line) => {
    expect(wrong(text)).toEqual([line])
  })

  it.each([
    ["  - ping: {}\n\t- ping: {}", /^a\.yaml:4:1 The file is not valid YAML: .*; indent with spaces, not with tabs\.$/],
    [
      "  - ping: {}\n    ping: {}",
      /^a\.yaml:4:5 The file is not valid YAML: .*; this name occurs twice, so remove one of the two\.$/
    ],
    [
      "  - { [ping]: {} }",
      /^a\.yaml:3:7 The file is not valid YAML: .*; a name must be a text, and not a list or an object\.$/
    ],
    [
      `  - create ticket: { service: \${x} }`,
      /^a\.yaml:3:32 The file is not valid YAML: .*; put a text that contains { } \[ \] > or # in quotes\.$/
    ]
  ])("a text that is not valid YAML is refused: %j", (text, line) => {
    expect(wrong(steps(text))).toEqual([expect.stringMatching(line)])
  })

  it.each([
    ["themselves", "  - create ticket: &t { service: *t }"],
    [
      "millions of nodes",
      `  - create ticket: {}\n${"abcdefgh".replaceAll(/./g, (n) => `${n}: &${n} [${`*${n === "a" ? "z" : String.fromCharCode(n.charCodeAt(0) - 1)}, `.repeat(9)}]\n`)}`
    ]
  ])("aliases that contain %s are reported as an error in the file, and not as a bug of the command", (_, lines) => {
    expect(wrong(`z: &z [x]\n${steps(lines)}`)).toEqual([
      "a.yaml:1:1 The file has aliases (*name) that are too large or contain themselves. Write out the content instead of the aliases."
    ])
  })

  it.each(["$toString", "$constructor", "$valueOf"])("%s, a method of every object, is not a kind of value", (word) => {
    const [line] = wrong(steps("  - create ticket: { service: Hem }", `    expect: { data: { service: ${word} } }`))
    expect(line).toContain(`${word} is not defined yet`)
  })

  it.each([
    [
      "  - ping: {}\n    advance: 1d",
      "a.yaml:3:5 steps.0 has 2 actions: ping and advance. Write a step for each, or put the steps under together."
    ],
    [
      "  - get ticket: $boots",
      "a.yaml:3:17 steps.0.get ticket $boots is not defined yet. Define it in an earlier step with as, or under given."
    ],
    [
      "  - create ticket: { service: $any }",
      "a.yaml:3:31 steps.0.create ticket.service $any stands for any value of its kind, so use it only in an expectation."
    ],
    ["  - ping: {}\n    as: now", "a.yaml:4:9 steps.0.as now is a reserved name. Choose another name."],
    ["  - ping: {}\n    as: shop", "a.yaml:4:9 steps.0.as shop is already used under given. Choose another name."],
    [
      "  - expect events: [{ data: { $lenght: 1 } }]",
      'a.yaml:3:31 steps.0.expect events.0.data.$lenght is not an operator; did you mean "$length"?'
    ],
    [
      "  - expect events: []\n    expect: 200",
      "a.yaml:4:5 steps.0.expect is not allowed beside expect events, which is already an expectation. Write the expected value after the colon of expect events."
    ],
    [
      "  - ping: {}\n    key: $shop",
      "a.yaml:4:5 steps.0.key has no effect on ping, because only actions that call the API send a key. Remove the field."
    ],
    [
      "  - ping: {}\n    statuses: { 200: 1 }",
      "a.yaml:4:5 steps.0.statuses counts the responses of repeated steps. Add repeat, or use expect."
    ],
    [
      "  - together: [{ ping: {} }]\n    expect: 200",
      "a.yaml:4:5 steps.0.expect is not allowed beside together. Write it in the steps under together."
    ],
    [
      "  - ping: {}\n    expect: 4O9",
      "a.yaml:4:13 steps.0.expect must be a status such as 201, a status and a reason such as 409 REOPEN_WINDOW, the word lost, or fields of the response."
    ],
    [
      "  - receiver: sulk",
      "a.yaml:3:15 steps.0.receiver must be a status such as 200 or 410, one of redirect, cut, silent, endless, or { answers, times, delay }."
    ],
    [
      "  - get shop: {}\n    idempotency_key: k",
      "a.yaml:4:5 steps.0.idempotency_key has no effect on get shop, because only create ticket, add stamps, redeem reward send an Idempotency-Key. Remove the field."
    ],
    ["  - ping: {}\n    shop: shop", "a.yaml:4:11 steps.0.shop shop needs a dollar before it. Write $shop."],
    [
      "  - create ticket: {}\n    as: hem\n  - set status: { ticket: hem, status: ready }",
      "a.yaml:5:27 steps.1.set status.ticket hem needs a dollar before it. Write $hem."
    ],
    [
      "  - together:\n      - ping: {}\n        as: now",
      "a.yaml:5:13 steps.0.together.0.as now is a reserved name. Choose another name."
    ],
    ["  - ping: {}\n    repeat: 0", "a.yaml:4:13 steps.0.repeat must be a whole number from 1 to 1000."],
    [
      "  - ping: { now: true }",
      "a.yaml:3:18 steps.0.ping.now is not allowed, because the action takes no argument. Write only {}."
    ],
    [
      "  - ping: {}\n    expect: { data: /(/ }",
      "a.yaml:4:21 steps.0.expect.data /(/ is not a valid regular expression."
    ],
    [
      "  - create ticket: { service: $12 }",
      "a.yaml:3:31 steps.0.create ticket.service $12 is not a reference. Write a reference such as $ticket.number or $now + 60d. If the text itself starts with a dollar, write two dollars."
    ]
  ])("an invalid step is refused with its position and what to write instead: %j", (text, line) => {
    expect(wrong(steps(text))).toEqual([line])
  })

  const hem = "  - create ticket: {}\n    as: hem\n"

  it.each([
    [
      `${hem}  - set clock: $hem.redy_at + 1d`,
      'a.yaml:5:16 steps.1.set clock $hem has no redy_at; did you mean "ready_at"?'
    ],
    [
      `${hem}  - ping: {}\n    title: x\n    expect: { data: "\${hem.money.price_minr}" }`,
      'a.yaml:7:21 steps.1.expect.data $hem.money has no price_minr; did you mean "price_minor"?'
    ],
    [
      `${hem}  - get ticket: $hem.number.id`,
      "a.yaml:5:17 steps.1.get ticket $hem.number has no id, because it has no fields."
    ],
    [
      "  - list tickets: {}\n    as: all\n  - get ticket: $all.id",
      "a.yaml:5:17 steps.1.get ticket $all has no id, because it is a list. Give the position of an entry, from 0."
    ],
    [
      "  - list tickets: {}\n    as: { first: data.0 }\n  - get ticket: $first.idd",
      'a.yaml:5:17 steps.1.get ticket $first has no idd; did you mean "id"?'
    ],
    [
      "  - list tickets: {}\n    as: { next: meta.next_cusor }",
      'a.yaml:4:17 steps.0.as.next the response.meta has no next_cusor; did you mean "next_cursor"?'
    ],
    [
      "  - get shop: {}\n    as: { next: meta.next_cursor }",
      "a.yaml:4:17 steps.0.as.next the response has no meta. Its fields are status, data, headers, body."
    ],
    [
      "  - get shop: {}\n    as: { id: id }",
      "a.yaml:4:15 steps.0.as.id id is not part of a response. Start with one of status, data, meta, error, headers, body."
    ],
    ["  - get ticket: $shop.kye", 'a.yaml:3:17 steps.0.get ticket $shop has no kye; did you mean "key"?'],
    ["  - get ticket: $now.id", "a.yaml:3:17 steps.0.get ticket $now has no id, because it has no fields."],
    [
      "  - expect events: []\n    as: seen\n  - get ticket: $seen.0.tpye",
      'a.yaml:5:17 steps.1.get ticket $seen.0 has no tpye; did you mean "type"?'
    ]
  ])("a reference to a field that no response has is refused: %j", (text, line) => {
    expect(wrong(steps(text))).toEqual([line])
  })

  it.each([
    `${hem}  - get ticket: $hem.items.0.label\n  - get ticket: $hem.quote.proposed_at\n  - get ticket: $hem.items.length`,
    "  - request: { method: GET, path: / }\n    as: it\n  - get ticket: $it.whatever",
    "  - get ticket: x\n    expect: 404\n    as: it\n  - get ticket: $it.whatever",
    "  - get ticket: x\n    expect: { status: 404 }\n    as: { it: error.code }",
    "  - create ticket: {}\n    repeat: 2\n    statuses: { 201: 1, 429: 1 }\n    as: it\n  - get ticket: $it.whatever",
    "  - expect events: []\n    as: seen\n  - get ticket: $seen.0.data.ticket.id",
    "  - get shop: {}\n    as: { left: headers.RateLimit-Remaining, ok: body.success }"
  ])("a reference to a field that a response may have is checked only during the run: %j", (text) => {
    expect(wrong(steps(text))).toEqual([])
  })

  it.each([
    [
      "  - ping: {}\n    expect: 409 REOPEN_WINDO",
      'a.yaml:4:13 steps.0.expect REOPEN_WINDO is neither a code nor a reason; did you mean "REOPEN_WINDOW"?'
    ],
    [
      "  - ping: {}\n    expect: 404 CONFLICT",
      "a.yaml:4:13 steps.0.expect CONFLICT belongs to the status 409, and not to 404. Correct one of the two."
    ],
    [
      "  - ping: {}\n    expect: { error: { code: NOTFOUND } }",
      'a.yaml:4:30 steps.0.expect.error.code NOTFOUND is not a code; did you mean "NOT_FOUND"?'
    ],
    [
      "  - ping: {}\n    expect: { error: { details: { reason: { $one_of: [SAME_STATE, ABANDONNED] } } } }",
      'a.yaml:4:67 steps.0.expect.error.details.reason.$one_of.1 ABANDONNED is not a reason; did you mean "ABANDONED"?'
    ]
  ])("a code or a reason that no refusal has is refused: %j", (text, line) => {
    expect(wrong(steps(text))).toEqual([line])
  })

  it.each([
    [
      "    expect: { data: { stae: { $not: ready } } }",
      'data.stae is not a field of the response; did you mean "state"?'
    ],
    [
      "    expect: { data: { redy_at: $absent } }",
      'data.redy_at is not a field of the response; did you mean "ready_at"?'
    ],
    [
      "    expect: { data: { money: { $exactly: { prize_minor: 1 } } } }",
      'data.money.$exactly.prize_minor is not a field of the response; did you mean "price_minor"?'
    ],
    [
      "    expect: { data: { items: [{}, { lable: x }] } }",
      'data.items.1.lable is not a field of the response; did you mean "label"?'
    ],
    [
      "    expect: { data: { $not: { $one_of: [{ numbr: 1 }] } } }",
      'data.$not.$one_of.0.numbr is not a field of the response; did you mean "number"?'
    ],
    [
      "    expect: { meta: { replyed: true } }",
      'meta.replyed is not a field of the response; did you mean "replayed"?'
    ],
    ["    expect: { error: { cod: CONFLICT } }", 'error.cod is not a field of the response; did you mean "code"?']
  ])("an expected field that no response to the action has is refused: %j", (text, problem) => {
    const [line] = wrong(steps("  - create ticket: {}", text))
    expect(line).toMatch(/^a\.yaml:4:\d+ steps\.0\.expect\./)
    expect(line).toContain(`.expect.${problem}`)
  })

  it("an expected field that no observed entry has is refused, and so is an expected meta of a response without meta", () => {
    expect(wrong(steps("  - expect deliveries: { $contains: [{ stat: dead }] }"))).toEqual([
      'a.yaml:3:40 steps.0.expect deliveries.$contains.0.stat is not a field of the response; did you mean "state"?'
    ])
    expect(
      wrong(steps("  - get loyalty: x", "    expect: { data: { balance: 1, card: { lifetime: 3 } } }"))[0]
    ).toContain("data.balance is not a field of the response")
    expect(wrong(steps("  - get shop: {}", "    expect: { data: { secret: $absent } }"))).toEqual([])
  })

  it("a receiver without a webhook is refused, unless the step expects no delivery", () => {
    const without = "name: x\ngiven: { shops: { lac: {}, sea: { webhook: true } } }\nsteps:\n"
    const missing = "needs a webhook, which lac does not have. Write webhook: true under given.shops.lac."
    expect(wrong(`${without}  - expect received: [ping]`)).toEqual([`a.yaml:4:5 steps.0.expect received ${missing}`])
    expect(wrong(`${without}  - receiver: 500`)).toEqual([`a.yaml:4:5 steps.0.receiver ${missing}`])
    expect(wrong(`${without}  - expect new received: [ping]\n    shop: $sea`)).toEqual([])
    expect(wrong(`${without}  - expect received: []`)).toEqual([])
    expect(wrong(steps("  - receiver: 500"))).toEqual([
      "a.yaml:3:5 steps.0.receiver needs a webhook, which shop does not have. Write webhook: true under given.shops.shop."
    ])
  })

  it.each([
    [
      "  - expect events: [ticket.created, ticket.redy]",
      'a.yaml:3:37 steps.0.expect events.1 ticket.redy is not a known event; did you mean "ticket.ready"?'
    ],
    [
      "  - expect deliveries: { $contains: { type: ticket.abandonned } }",
      'a.yaml:3:45 steps.0.expect deliveries.$contains.type ticket.abandonned is not a known event; did you mean "ticket.abandoned"?'
    ],
    [
      "  - expect notices: { $not: [webhook_of] }",
      'a.yaml:3:30 steps.0.expect notices.$not.0 webhook_of is not a known notice; did you mean "webhook_off"?'
    ]
  ])("an unknown event or notice is refused: %j", (text, line) => {
    expect(wrong(steps(text))).toEqual([line])
  })

  it("an unknown name or field is reported once, at its first use, with the lines that depend on it", () => {
    const text = steps(
      "  - create ticket: {}",
      "    as: boot",
      "  - get ticket: $boots",
      "  - set status: { ticket: $boots, status: ready }",
      "  - advance: 60 days",
      "  - get ticket: $boots.id",
      "  - set clock: $boot.redy_at",
      `  - request: { method: GET, path: "/v1/tickets/\${boots.id}?x=\${boot.redy_at}" }`,
      "  - set clock: $boot.redy_at"
    )
    expect(wrong(text)).toEqual([
      'a.yaml:5:17 steps.1.get ticket $boots is not defined yet; did you mean "boot"? Lines 6, 8 and 10 have the same mistake.',
      "a.yaml:7:14 steps.3.advance must be a length of time such as 60d, 23h59m or 1ms.",
      'a.yaml:9:16 steps.5.set clock $boot has no redy_at; did you mean "ready_at"? Line 11 has the same mistake.'
    ])
  })
})
