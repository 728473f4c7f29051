import { useSignal } from "@preact/signals"
import { render } from "preact"
import { useEffect } from "preact/hooks"
import { typedInto } from "./fields.js"
import type { Delivery, History } from "./model.js"
import { Timeline } from "./Timeline.js"

/** A ticket's story in a report. */
interface ToldStory {
  readonly history: History
  readonly deliveries: ReadonlyArray<Delivery>
  readonly now: number
  readonly zone: string
}

const entries = [...document.querySelectorAll<HTMLElement>(".entry")].map((element) => ({
  element,
  outcome: element.dataset.outcome ?? "",
  text: (element.textContent ?? "").toLowerCase()
}))

const outcomes = [...new Set(entries.map(({ outcome }) => outcome))]

/**
 * Filters and searches the entries of the page. The entries are in the page's HTML, so they are also shown without
 * scripts.
 */
const Tools = () => {
  const search = useSignal("")
  const outcome = useSignal<string | null>(null)
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  const isShown = (entry: (typeof entries)[number]) =>
    (outcome.value === null || entry.outcome === outcome.value) && words.every((word) => entry.text.includes(word))
  const shown = entries.filter(isShown)
  useEffect(() => {
    for (const entry of entries) entry.element.hidden = !isShown(entry)
    for (const section of document.querySelectorAll<HTMLElement>("section"))
      if (section.querySelector(".entry") !== null)
        section.hidden = section.querySelector(".entry:not([hidden])") === null
  })
  return (
    <>
      <input
        type="search"
        aria-label="Search the report"
        placeholder={matchMedia("(max-width: 700px)").matches ? "Search" : "Search  /"}
        value={search.value}
        onInput={typedInto(search)}
      />
      {outcomes.length > 1 &&
        [null, ...outcomes].map((one) => (
          <button
            type="button"
            key={one ?? "all"}
            aria-pressed={outcome.value === one}
            onClick={() => {
              outcome.value = one
            }}
          >
            {one ?? "all"} {entries.filter((entry) => one === null || entry.outcome === one).length}
          </button>
        ))}
      <output>{shown.length === entries.length ? "" : `${shown.length} of ${entries.length}`}</output>
    </>
  )
}

/** Unfolds the entry that the address names. */
const follow = (): void => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (target === null) return
  target.hidden = false
  target.querySelector("details")?.setAttribute("open", "")
  target.scrollIntoView()
}

const tools = document.querySelector(".tools")
if (tools !== null && entries.length > 1) render(<Tools />, tools)

for (const place of document.querySelectorAll<HTMLElement>("[data-story]")) {
  const { history, deliveries, now, zone } = JSON.parse(place.dataset.story ?? "") as ToldStory
  render(<Timeline history={history} deliveries={deliveries} now={now} zone={zone} moveTo={null} />, place)
}

for (const place of document.querySelectorAll<HTMLElement>(".repeat")) {
  const button = document.createElement("button")
  button.type = "button"
  button.textContent = "Copy"
  button.onclick = () => void navigator.clipboard.writeText(place.querySelector("code")?.textContent ?? "")
  place.append(button)
}

addEventListener("hashchange", follow)
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target instanceof HTMLInputElement) return
  event.preventDefault()
  document.querySelector<HTMLInputElement>(".tools input")?.focus()
})
follow()
