import type { TrackingStep, TrackingView } from "../../domain/TrackingView.js"
import { Html, html } from "./Html.js"
import type { TrackingLocale } from "./TrackingLanguage.js"
import { type TrackingWords, trackingWords } from "./TrackingWords.js"

/** The style of the pages. Their content security policy allows exactly this text. */
export const trackingStyle = `
:root { color-scheme: light dark;
  --page: #f3f1ec; --card: #fff; --text: #1d1b18; --faint: #5c574f; --line: #dedad2;
  --ready: #17643a; --workshop: #1f4e8c; --impossible: #8a4300; --ended: #4f4a43; }
@media (prefers-color-scheme: dark) { :root {
  --page: #141312; --card: #201e1c; --text: #f3f0ea; --faint: #b8b1a6; --line: #3b3733;
  --ready: #7fd6a2; --workshop: #9cc3f5; --impossible: #f2b27a; --ended: #c9c2b7; } }
* { box-sizing: border-box; margin: 0; padding: 0; }
body { background: var(--page); color: var(--text); font: 1.0625rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Arabic", sans-serif;
  min-height: 100vh; padding: clamp(.75rem, 4vw, 3rem) clamp(.75rem, 4vw, 2rem); overflow-wrap: anywhere; }
main { background: var(--card); border: 1px solid var(--line); border-radius: 1.25rem; margin: 0 auto; max-width: 34rem;
  padding: clamp(1.25rem, 5vw, 2.5rem); }
.shop { color: var(--faint); font-size: 1rem; font-weight: 600; }
h1 { color: var(--accent, var(--text)); font-size: clamp(2.25rem, 10vw, 3.25rem); font-weight: 700; line-height: 1.12; margin: .35rem 0 .5rem; }
.lead { font-size: 1.1875rem; }
.items { border-block: 1px solid var(--line); font-size: 1.1875rem; font-weight: 600; list-style: none; margin: 1.5rem 0; padding: .9rem 0; }
.items li + li { margin-top: .25rem; }
.workshop { --accent: var(--workshop); } .ready { --accent: var(--ready); }
.impossible { --accent: var(--impossible); } .collected, .abandoned { --accent: var(--ended); }
.steps { list-style: none; }
.steps li { display: grid; grid-template-columns: 1.75rem 1fr; column-gap: .75rem; padding-bottom: 1.1rem; position: relative; }
.steps li:last-child { padding-bottom: 0; }
.steps li:not(:last-child)::before { background: var(--line); content: ""; inset-block: 1.75rem 0; inset-inline-start: calc(.875rem - 1px);
  position: absolute; width: 2px; }
.steps svg { height: 1.75rem; width: 1.75rem; }
.steps .name { font-size: 1.0625rem; line-height: 1.75rem; }
.steps .when { color: var(--faint); display: block; font-size: .9375rem; font-weight: 400; line-height: 1.4; }
.steps .current .name { color: var(--accent); font-weight: 700; }
.steps .upcoming .name { color: var(--faint); }
.ring { fill: none; stroke: var(--faint); stroke-width: 2; } .full { fill: var(--accent); }
.mark { fill: none; stroke: var(--card); stroke-linecap: round; stroke-linejoin: round; stroke-width: 2.5; }
.core { fill: var(--card); }
dl { border-top: 1px solid var(--line); margin-top: 1.5rem; padding-top: .35rem; }
dl div { display: grid; gap: .1rem 1rem; grid-template-columns: minmax(8.5rem, 2fr) 3fr; padding: .55rem 0; }
dt { color: var(--faint); } dd { font-weight: 600; } dd small { display: block; font-size: .9375rem; font-weight: 400; }
footer { border-top: 1px solid var(--line); color: var(--faint); font-size: .9375rem; margin-top: 1.1rem; padding-top: 1rem; }
footer b { color: var(--text); font-weight: 600; }
.unseen { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; white-space: nowrap; width: 1px; }
@media (max-width: 26rem) { dl div { grid-template-columns: 1fr; } dl .amount { grid-template-columns: 1fr auto; } }
`

/** One page with its language, its title and the contents of the card. */
const renderPage = ({ language }: TrackingLocale, title: string, body: Html): string =>
  html`<!doctype html>
<html lang="${language}" dir="${trackingWords[language].direction}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex, nofollow">
<title>${title}</title><link rel="icon" href="data:,"><style>${new Html(trackingStyle)}</style></head>
<body>${body}</body></html>
`.text

/** A page that explains why it shows no ticket. */
export const renderTrackingMessage = (
  message: "not_found" | "too_many" | "unavailable",
  locale: TrackingLocale
): string => {
  const { title, text } = trackingWords[locale.language][message]
  return renderPage(locale, title, html`<main><h1>${title}</h1><p class="lead">${text}</p></main>`)
}

// The direction of a shop's text may differ from the words around it, so Unicode's FSI and PDI isolate it.
const isolateText = (text: string): string => `\u2068${text}\u2069`

// French uses 24 hours even in regions whose other language uses 12, and so does Arabic in the Maghreb.
const hourOptionsOf = ({ language, locale }: TrackingLocale) =>
  language === "fr" || /^ar-(DZ|MA|MR|TN)$/.test(locale) ? ({ hourCycle: "h23" } as const) : {}

const makeDateFormats = (reader: TrackingLocale, { time_zone, updated_at }: TrackingView) => {
  const format = (iso: string, options: Intl.DateTimeFormatOptions): string => {
    // The year is shown only if it is not the current year.
    const year = iso.slice(0, 4) === updated_at.slice(0, 4) ? {} : ({ year: "numeric" } as const)
    const time = { hour: "numeric", minute: "2-digit", ...hourOptionsOf(reader) } as const
    const shown = { timeZone: time_zone, month: "long", day: "numeric", ...year, ...time, ...options } as const
    return new Intl.DateTimeFormat(reader.locale, shown).format(new Date(iso))
  }
  return {
    long: (iso: string) => format(iso, { weekday: "long" }),
    short: (iso: string) => format(iso, {})
  }
}

type DateFormats = ReturnType<typeof makeDateFormats>

const makeAmountFormat = (locale: string, { currency, decimals }: TrackingView) => {
  // Readers could take 25,000 for twenty-five thousand, so a whole amount of a currency with three decimals has none.
  const trailingZeroDisplay = decimals > 2 ? "stripIfInteger" : "auto"
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals, trailingZeroDisplay } as const
  const format = new Intl.NumberFormat(locale, { style: "currency", currency, ...digits })
  return (minor: number) => format.format(minor / 10 ** decimals)
}

const progressMarks: Readonly<Record<TrackingStep["progress"], Html>> = {
  done: html`<circle class="full" cx="14" cy="14" r="12"/><path class="mark" d="m8.5 14.5 3.8 3.8 7.2-8"/>`,
  current: html`<circle class="full" cx="14" cy="14" r="12"/><circle class="core" cx="14" cy="14" r="5"/>`,
  upcoming: html`<circle class="ring" cx="14" cy="14" r="10"/>`
}

const renderStep = (
  { step, progress, at }: TrackingStep,
  names: TrackingWords["steps"]["repair"],
  words: TrackingWords,
  { short }: DateFormats
) =>
  html`<li class="${progress}"${progress === "current" ? html` aria-current="step"` : null}>
<svg viewBox="0 0 28 28" aria-hidden="true">${progressMarks[progress]}</svg>
<div class="name">${names[step]}<span class="unseen">${words.colon}${words.progress[progress]}</span>
${at === null ? null : html`<span class="when">${short(at)}</span>`}</div></li>`

const renderDefinition = (name: string, value: string, details: ReadonlyArray<string> = []): Html =>
  html`<div><dt>${name}</dt><dd><bdi>${value}</bdi>${details.map((line) => html`<small>${line}</small>`)}</dd></div>`

const renderDelay = ({ delay }: TrackingView, words: TrackingWords, { long }: DateFormats): ReadonlyArray<Html> => {
  if (delay === null) return []
  const { title, text, before } = words.delay
  const { previous_promised_at, reason } = delay
  const changedPromise = previous_promised_at === null ? text : before(long(previous_promised_at))
  return [reason === null ? renderDefinition(title, changedPromise) : renderDefinition(title, reason, [changedPromise])]
}

const renderPart = ({ part }: TrackingView, words: TrackingWords, { long }: DateFormats): ReadonlyArray<Html> => {
  if (part === null) return []
  const { label, status, expected_at, received_at } = part
  if (status === "received")
    return [
      renderDefinition(
        words.part.received,
        label,
        received_at === null ? [] : [words.part.received_at(long(received_at))]
      )
    ]
  return [
    renderDefinition(words.part.ordered, label, expected_at === null ? [] : [words.part.expected_at(long(expected_at))])
  ]
}

const renderFacts = (
  view: TrackingView,
  { language, locale }: TrackingLocale,
  when: DateFormats
): ReadonlyArray<Html> => {
  const words = trackingWords[language]
  const formatAmount = makeAmountFormat(locale, view)
  const { promised_at, price_minor, deposit_minor, remaining_minor, notified } = view
  const renderAmount = (name: string, minor: number | null) =>
    minor === null ? [] : [html`<div class="amount"><dt>${name}</dt><dd><bdi>${formatAmount(minor)}</bdi></dd></div>`]
  return [
    ...(promised_at === null ? [] : [renderDefinition(words.promised_at, when.long(promised_at))]),
    ...renderDelay(view, words, when),
    ...renderPart(view, words, when),
    ...renderAmount(words.price, price_minor),
    ...renderAmount(words.deposit, deposit_minor),
    ...(deposit_minor === null ? [] : renderAmount(words.remaining, remaining_minor)),
    ...(notified === null
      ? []
      : notified.channel === null
        ? [renderDefinition(words.notified, when.long(notified.at))]
        : [renderDefinition(words.notified, words.channels[notified.channel], [when.long(notified.at)])])
  ]
}

const headlineOf = ({ state, type, abandon_reason }: TrackingView, { states }: TrackingWords) =>
  state === "abandoned" ? states.abandoned[abandon_reason ?? "no_news"] : states[state][type]

/** The page of a ticket: the default of `TrackingOptions.template`, and a model for your own template. */
export const trackingTemplate = (view: TrackingView, locale: TrackingLocale): string => {
  const words = trackingWords[locale.language]
  const dates = makeDateFormats(locale, view)
  const { title, text } = headlineOf(view, words)
  const details = renderFacts(view, locale, dates)
  const names = words.steps[view.type]
  return renderPage(
    locale,
    `${title} · ${isolateText(view.shop_name)}`,
    html`<main class="${view.state}">
<p class="shop"><bdi>${view.shop_name}</bdi></p>
<h1>${title}</h1>
<p class="lead">${text}</p>
<ul class="items">${view.items.map((item) => html`<li><bdi>${item}</bdi></li>`)}</ul>
<h2 class="unseen">${words.progress_title}</h2>
<ol class="steps">${view.steps.map((step) => renderStep(step, names, words, dates))}</ol>
${details.length === 0 ? null : html`<h2 class="unseen">${words.details_title}</h2><dl>${details}</dl>`}
<footer><p>${words.ticket} <b><bdi>${view.number_label}</bdi></b> · ${words.code} <b><bdi>${view.tracking_code}</bdi></b></p>
<p>${words.updated_at}${words.colon}${dates.long(view.updated_at)}</p></footer>
</main>`
  )
}
