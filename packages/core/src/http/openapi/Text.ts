import { DAY_MS } from "../../domain/Instant.js"
import { Limits, Policies } from "../../domain/Limits.js"
import { eventsTable, movesTable, statesTable } from "./States.js"

const policies = Object.entries(Policies)
  .map(([name, { limit, counts, per, window }]) => {
    const span = window === "calendar_day" ? "day of the shop" : window
    return `| \`${name}\` | ${limit} ${counts} | ${per} | ${span} |`
  })
  .join("\n")

/** The introduction to read before the first call, in Markdown. */
export const introduction = `A shop's till, ERP or online shop creates workshop tickets, moves them from state to state, looks its clients up and stamps their loyalty cards. Each API key reaches one shop and nothing else.

## Requests and answers

Send the key as \`Authorization: Bearer <key>\` and bodies as \`application/json\`. Every answer is an envelope: \`success\` true with \`data\` (and \`meta\` where there is more to say), or \`success\` false with \`error\`. Fields and parameters that are not known, or given twice, are refused by name; \`null\` for an optional field of a body means that it is absent. Answers may gain fields, so ignore those you do not know.

\`HEAD\` answers like \`GET\` without the body. A path or method that does not exist is a 404 \`NOT_FOUND\`, once the key is good.

Amounts are whole numbers of the currency's minor unit. Instants are ISO 8601 in UTC with milliseconds.

## How a ticket moves

${statesTable}

${movesTable}

Every other move is a 409, whose \`details.allowed\` lists the statuses that the ticket would accept. Every 409 of a ticket but \`IDEMPOTENCY_KEY_REUSED\` tells its present \`details.state\` and \`details.updated_at\`.

## Repeating a request

The operations that take an \`Idempotency-Key\` may be repeated with the same key for ${Limits.idempotency_memory_ms / DAY_MS} days: the repetition gets the first answer's \`data\` with \`meta.replayed\` true and the header \`Idempotent-Replayed\`. A refused request is forgotten, so its corrected form may keep the key; under a key that did succeed, another request is a 409. To change a status and to record that the client was notified the key is optional.

## Limits

| policy | at most | per | window |
| --- | --- | --- | --- |
${policies}

Minutes and hours start with the first use. What goes beyond gets a 429; \`details.limit\` names the policy, and \`Retry-After\` says how many seconds to wait. Only a 503, and what could not be read as HTTP at all, may lack the \`RateLimit-*\` headers.

## Events

A shop's webhook receives these, signed; the webhooks section has the details.

${eventsTable}`

/** The tag of the webhooks section. */
export const webhooksTag = { name: "Webhooks", description: "What a shop's webhook receives" }
