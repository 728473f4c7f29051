import { describe, expect, it } from "vitest"
import type { TrackingView } from "../../src/domain/TrackingView.js"
import { html } from "../../src/http/tracking/Html.js"
import { localeOf } from "../../src/http/tracking/TrackingLanguage.js"
import { renderTrackingMessage, trackingTemplate } from "../../src/http/tracking/TrackingTemplate.js"
import { trackingWords } from "../../src/http/tracking/TrackingWords.js"

const view: TrackingView = {
  ...{ shop_name: "Atelier <Lac>", time_zone: "Africa/Tunis", currency: "TND", decimals: 3 },
  ...{ tracking_code: "7K3M-Q9XD", number_label: "0042", type: "repair", state: "workshop", abandon_reason: null },
  items: [`Boots "brown" & <b>bold</b>`],
  steps: [
    { step: "received", progress: "done", at: "2026-11-20T23:30:00.000Z" },
    { step: "workshop", progress: "current", at: null },
    { step: "ready", progress: "upcoming", at: null }
  ],
  promised_at: "2026-11-24T16:00:00.000Z",
  delay: { previous_promised_at: "2026-11-23T16:00:00.000Z", reason: "The heel is late" },
  part: { label: "Heel", status: "ordered", expected_at: "2026-11-23T08:00:00.000Z", received_at: null },
  ...{ price_minor: 45_500, deposit_minor: 10_000, remaining_minor: 35_500 },
  notified: { at: "2026-11-22T09:15:00.000Z", channel: "whatsapp" },
  updated_at: "2026-11-22T09:15:00.000Z"
}

/** The text that a reader sees, without tags and with plain spaces. */
const textOf = (page: string): string =>
  page
    .replace(/<style>.*<\/style>/s, "")
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/[\s\u00a0\u202f\u200f\u2068\u2069]+/g, " ")

describe("the language of a ticket's page", () => {
  it.each([
    [undefined, "en", "en"],
    ["", "en", "en"],
    ["de-DE,de;q=0.9", "en", "en"],
    ["fr", "fr", "fr"],
    ["fr-CH, fr;q=0.9, en;q=0.8", "fr", "fr-CH"],
    ["en;q=0.5, ar-tn;q=0.9", "ar", "ar-TN"],
    ["de, ar;q=0.7, fr;q=0.7", "ar", "ar"],
    ["fr;q=0, en;q=0.1", "en", "en"],
    ["ar-Arab-EG", "ar", "ar-EG"],
    ["FR-ca", "fr", "fr-CA"],
    ["en-US-u-ca-hebrew", "en", "en-US"],
    ["fr;q=2, *;q=0.5", "en", "en"],
    ["-,;;q=1,fr-", "en", "en"]
  ])("the language of Accept-Language %s is %s, with the dates of %s", (header, language, locale) =>
    expect(localeOf(header)).toEqual({ language, locale })
  )

  it("every language has all words, and none is empty", () => {
    const texts = (value: unknown): ReadonlyArray<unknown> => {
      if (typeof value === "function") return [value("DATE")]
      return typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : [value]
    }
    const all = Object.values(trackingWords).map(texts)
    expect(new Set(all.map(({ length }) => length)).size).toBe(1)
    for (const text of all.flat()) expect(String(text).trim()).not.toBe("")
  })
})

describe("the page of a ticket", () => {
  it("the page has in English the state, items, dates in the shop's zone, and money in its currency and decimals", () => {
    // Whether there is a comma after the day depends on the release of Node.
    const text = textOf(trackingTemplate(view, { language: "en", locale: "en-GB" })).replaceAll(",", "")
    for (const part of [
      "In the workshop We are working on it.",
      "Received : done 21 November at 0:30 ",
      "In the workshop : now",
      "Ready : to come",
      "Promised for Tuesday 24 November at 17:00",
      "Delayed The heel is late It was promised for Monday 23 November at 17:00.",
      "Waiting for a part Heel Expected on Monday 23 November at 9:00",
      "Price TND 45.500",
      "Deposit paid TND 10 ",
      "Left to pay TND 35.500",
      "You were notified by WhatsApp Sunday 22 November at 10:15",
      "Ticket 0042 · Code 7K3M-Q9XD"
    ])
      expect(text).toContain(part)
  })

  it("the page is French for a reader of French", () => {
    const page = trackingTemplate(view, { language: "fr", locale: "fr-TN" })
    expect(page).toContain('<html lang="fr" dir="ltr">')
    expect(textOf(page)).toContain("À l’atelier Nous y travaillons.")
    expect(textOf(page)).toContain("Promis pour le mardi 24 novembre à 17:00")
    expect(textOf(page)).toContain("Prix 45,500 DT")
    expect(page).toContain("Dernière mise à jour\u00a0: ")
  })

  it("the page is Arabic, from right to left, for a reader of Arabic", () => {
    const page = trackingTemplate(view, { language: "ar", locale: "ar-TN" })
    expect(page).toContain('<html lang="ar" dir="rtl">')
    expect(textOf(page)).toContain("في الورشة نحن نعمل عليه الآن.")
    expect(textOf(page)).toContain("الموعد الثلاثاء، 24 نوفمبر")
    expect(textOf(page)).toContain("45,500 د.ت.")
    // A whole amount has no decimals that look like thousands, and a future step is not in the past tense.
    expect(textOf(page)).toContain("10 د.ت.")
    expect(textOf(page)).toContain("تم التسليم للمحل : تم 21 نوفمبر في 00:30")
    expect(trackingWords.ar.steps.repair.collected).toBe("الاستلام")
  })

  it("a date in another year has its year", () => {
    const page = trackingTemplate(
      { ...view, promised_at: "2027-01-04T16:00:00.000Z" },
      { language: "en", locale: "en-GB" }
    )
    expect(textOf(page).replaceAll(",", "")).toContain("Promised for Monday 4 January 2027 at 17:00")
  })

  it("every state and type has a sentence in every language", () => {
    for (const language of ["en", "fr", "ar"] as const) {
      for (const type of ["repair", "prepare"] as const) {
        for (const state of ["workshop", "ready", "impossible", "collected", "abandoned"] as const) {
          for (const abandon_reason of state === "abandoned" ? (["uncollected", "no_news"] as const) : [null]) {
            const page = trackingTemplate({ ...view, type, state, abandon_reason }, { language, locale: language })
            expect(page).toMatch(/<h1>[^<]+<\/h1>\s*<p class="lead">[^<]+<\/p>/)
            expect(page).not.toMatch(/undefined|null|NaN|\[object/)
          }
        }
      }
    }
  })

  it("the page leaves out unknown details", () => {
    const nothing = { promised_at: null, delay: null, part: null, price_minor: null, deposit_minor: null } as const
    const page = trackingTemplate({ ...view, ...nothing, remaining_minor: null, notified: null }, localeOf("en"))
    expect(page).not.toMatch(/<dl>|Price|Deposit|Promised/)
  })

  it("the page escapes every text of the shop, and has no script, no link and no attribute that runs one", () => {
    const page = trackingTemplate(
      { ...view, delay: { previous_promised_at: null, reason: "<img onerror=x>" } },
      localeOf("fr")
    )
    expect(page).toContain("Atelier &lt;Lac&gt;")
    expect(page).toContain("Boots &quot;brown&quot; &amp; &lt;b&gt;bold&lt;/b&gt;")
    expect(page).toContain("&lt;img onerror=x&gt;")
    expect(page).not.toMatch(/<script|<a |<img|<form|<[^>]* on\w+=|javascript:/i)
  })

  it("the page asks search engines not to index it, as do the pages without a ticket", () => {
    const pages = [trackingTemplate(view, localeOf("en")), renderTrackingMessage("not_found", localeOf("ar"))]
    for (const page of pages) expect(page).toContain('<meta name="robots" content="noindex, nofollow">')
  })
})

describe("the template function html", () => {
  it("html escapes inserted values, unless they are HTML already", () => {
    const item = (text: string) => html`<li title="${text}">${text}</li>`
    expect(html`<ul>${[item("a & 'b'"), item("<c>")]}${null}${4}</ul>`.text).toBe(
      '<ul><li title="a &amp; &#39;b&#39;">a &amp; &#39;b&#39;</li><li title="&lt;c&gt;">&lt;c&gt;</li>4</ul>'
    )
  })
})
