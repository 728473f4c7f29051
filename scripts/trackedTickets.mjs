// A shop with a ticket for every form of the client's page, for the pictures and for the test in a real browser.

const DAY = 86_400_000
const HOUR = 3_600_000

/** @template A @param {Promise<{ ok: true, value: A } | { ok: false, refusal: unknown }>} answer */
const taken = async (answer) => {
  const result = await answer
  if (!result.ok) throw new Error(`Refused: ${JSON.stringify(result.refusal)}`)
  return result.value
}

/**
 * Opens the shop and its tickets. Resolves with the tracking code of each, by its name; `unknown` has none.
 * @param {import("../packages/core/dist/promise.js").PromiseWorkshop} workshop
 * @param {{ readonly advance: (ms: number) => void, readonly unsafeCurrentTimeMillis: () => number }} clock
 * @returns {Promise<Readonly<Record<string, string>>>}
 */
export const trackedTickets = async ({ shops, tickets, progress }, clock) => {
  const { id } = await taken(
    shops.create({ name: "Atelier du Lac", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
  )
  /** @type {any} */
  const caller = {
    ...{ shop_id: id, caller_id: "01890000-0000-7000-8000-000000000001", via: "app" },
    scopes: ["tickets:read", "tickets:write"]
  }
  const began = clock.unsafeCurrentTimeMillis()
  const iso = (/** @type {number} */ ms) => new Date(began + ms).toISOString()
  /** @type {Record<string, string>} */
  const codes = { unknown: "0000-0000" }
  /** @param {string} name @param {any} input */
  const open = async (name, input) => {
    const { data } = await taken(tickets.create(caller, input, name))
    codes[name] = String(data.tracking_code)
    return data.id
  }
  const boots = { service: "Resole", item: "Brown leather boots", price_minor: 45_500, deposit_minor: 15_000 }
  const delayed = await open("delayed", { ...boots, promised_at: iso(3 * DAY + 8 * HOUR) })
  const ready = await open("ready", { ...boots, item: "حذاء جلدي بني" })
  const impossible = await open("impossible", { service: "Zip", item: "Red suitcase" })
  const collected = await open("collected", { ...boots, item: "Bottines marron" })
  const items = [
    { label: "Wedding dress" },
    { label: "Veil" },
    { label: "A very long name of a thing that does not fit on one line of a narrow phone" }
  ]
  await open("order", {
    service: "Alteration",
    type: "prepare",
    items,
    price_minor: 120_000,
    promised_at: iso(9 * DAY)
  })
  clock.advance(26 * HOUR)
  await taken(
    progress.recordPart(caller, delayed, {
      label: "Rubber heel, size 42",
      status: "ordered",
      expected_at: iso(4 * DAY)
    })
  )
  await taken(
    progress.announceDelay(caller, delayed, {
      promised_at: iso(5 * DAY + 8 * HOUR),
      reason: "The heel has to be ordered."
    })
  )
  await taken(tickets.recordNotified(caller, delayed, "whatsapp"))
  clock.advance(22 * HOUR)
  for (const id of [ready, collected]) {
    await taken(tickets.changeStatus(caller, id, "ready"))
    await taken(tickets.recordNotified(caller, id, "sms"))
  }
  await taken(tickets.changeStatus(caller, impossible, "impossible"))
  clock.advance(3 * HOUR)
  await taken(tickets.changeStatus(caller, collected, "collected"))
  return codes
}
