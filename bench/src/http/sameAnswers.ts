import { deepStrictEqual } from "node:assert"
import { key, type Ready, ticketBody } from "./Workload.js"

/** Patterns of texts that differ from run to run: ids, instants, codes. */
const VARYING = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, "<uuid>"],
  [/"(created|updated)_at":"[^"]+"/g, '"$1_at":"<instant>"'],
  [/[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}/g, "<code>"]
] as const

const fixed = (body: string): string => VARYING.reduce((text, [pattern, by]) => text.replace(pattern, by), body)

const ask = async (url: string, init: RequestInit) => {
  const response = await fetch(url, init)
  const headers = Object.fromEntries(response.headers)
  for (const name of ["date", "request-id", "ratelimit-reset", "keep-alive"])
    if (name in headers) headers[name] = "<varies>"
  return { status: response.status, headers, body: fixed(await response.text()) }
}

const answersOf = async ({ port, tickets }: Ready) => {
  const base = `http://127.0.0.1:${port}/v1/tickets`
  const authorization = `Bearer ${key(0)}`
  const create = (body: string, id: string) =>
    ask(base, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", "idempotency-key": id },
      body
    })
  const first = await create(ticketBody(1), "a")
  const refusals = [
    await ask(`${base}/${tickets[0]}`, {}),
    await create('{"service":"a\\u0000b"}', "b"),
    await create('{"service":"x","colour":"red"}', "b"),
    await create(ticketBody(2), "a"),
    await create('{"service":"fuck"}', "b")
  ]
  return {
    created: first,
    repeated: await create(ticketBody(1), "a"),
    withPhone: await create(ticketBody(2), "c"),
    read: await ask(`${base}/${tickets[0]}`, { headers: { authorization } }),
    refusals: refusals.map(({ status }) => status)
  }
}

/** Fails unless both servers send the same responses, byte for byte, except for random values. */
export const sameAnswers = async (ours: Ready, peer: Ready): Promise<void> =>
  deepStrictEqual(await answersOf(peer), await answersOf(ours), "The peer's answers are not ours")
