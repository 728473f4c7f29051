import type { Paint, Tone } from "../terminal/Style.js"
import { type News, type ToldTicket, ticketOf } from "./KnownTickets.js"
import type { Doubt, Outcome, Received, ReceivedEvent } from "./Received.js"
import { inWords } from "./ticketDiff.js"

const TYPE_WIDTH = "ticket.impossible".length
const STATE_WIDTH = "impossible".length

const tones: Readonly<Record<string, Tone>> = {
  "ticket.ready": "good",
  "ticket.collected": "good",
  "ticket.impossible": "bad",
  "ticket.abandoned": "bad",
  "ticket.reopened": "warn"
}

const doubts: Readonly<Record<Doubt, string>> = {
  missing: "it carries no signature header: --signature-header names another",
  malformed: "its signature header is not t=<seconds>,v1=<hex>",
  mismatch:
    "its signature belongs to another body or another secret: where the secret was changed, start this again with the new one",
  too_old: "its signature is too old for this clock: --tolerance allows more",
  too_new:
    "its signature is from the future of this clock: --register reads the clock of a sandbox, --tolerance allows more",
  not_an_event: "its body is not an event",
  not_a_post: "it is no POST",
  too_large: "its body is larger than 1 MiB"
}

/** What the answer was, where it was not simply a 200. */
const answers: Readonly<Record<Exclude<Received["answered"], number>, string>> = {
  redirect: "answered with a redirect",
  endless: "answered without an end",
  trickle: "answered a byte a second",
  silent: "not answered",
  cut: "cut off"
}

const answered = (how: Received["answered"]): string => (typeof how === "number" ? `answered ${how}` : answers[how])

const text = (value: unknown): string =>
  (typeof value === "string" || typeof value === "number" ? String(value) : "").replaceAll(/\s+/g, " ")

/** What an event says beside the ticket, such as the channel through which a client was told. */
const besides = ({ data: { ticket: _, ...rest } }: ReceivedEvent): ReadonlyArray<string> =>
  Object.entries(rest).flatMap(([name, value]) =>
    typeof value === "string" && name !== "notified_at" ? [`${name} ${text(value)}`] : []
  )

const introduced = (ticket: ToldTicket): string =>
  [ticket.service, ticket.item]
    .map(text)
    .filter((part) => part !== "")
    .join(", ")

const marks: Readonly<Record<Outcome, (received: Received, paint: Paint) => string>> = {
  event: ({ answered: how }, paint) => (how === 200 ? "" : paint("warn", answered(how))),
  again: (_, paint) => paint("warn", "again"),
  failed: ({ answered: how }, paint) => paint("bad", answered(how)),
  refused: (_, paint) => paint("bad", "refused")
}

const clockTime = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ")

const newsInWords = (news: News, ticket: ToldTicket | undefined): ReadonlyArray<string> => {
  if (news.kind === "changes") return news.changes.map(inWords)
  return [news.kind === "first" ? introduced(ticket ?? {}) : "late: newer news of this ticket came before"]
}

/** A request on one line: time, type, ticket, state, and what changed. */
export const eventLine = (received: Received, news: News, paint: Paint): string => {
  const time = paint("faint", clockTime(received.at))
  const { event, doubt } = received
  if (event === null || doubt !== null) {
    return `${time}  ${paint("bad", "refused")}  ${doubt === null ? "" : doubts[doubt]} (answered ${received.answered})`
  }
  const type = paint(tones[event.type] ?? "name", text(event.type).padEnd(TYPE_WIDTH))
  const ticket = ticketOf(event)
  const said = [...besides(event), ...newsInWords(news, ticket)].filter((part) => part !== "").join(", ")
  const parts =
    ticket === undefined
      ? [said]
      : [paint("strong", text(ticket.number_label).padEnd(4)), text(ticket.state).padEnd(STATE_WIDTH), said]
  const redialled = received.redialled ? paint("faint", "dialled anew for the same attempt") : ""
  return [time, type, ...parts, marks[received.outcome](received, paint), redialled]
    .filter((part) => part !== "")
    .join("  ")
}

/** The same for a program: one JSON object. */
export const eventJson = (received: Received, news: News): string => {
  const { n, at, outcome, doubt, redialled, answered, event, body } = received
  const told = event === null ? { body: body.slice(0, 1000) } : { event }
  const changes = news.kind === "changes" ? news.changes : []
  const time = new Date(at).toISOString()
  return JSON.stringify({
    kind: "request",
    n,
    at: time,
    outcome,
    doubt,
    redialled,
    answered,
    ...told,
    news: news.kind,
    changes
  })
}
