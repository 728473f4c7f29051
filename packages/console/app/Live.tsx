import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { token } from "./api.js"
import { chosen, type FeedKind, feedKinds, link, type Row, shownRows } from "./feed.js"
import { indentJson } from "./format.js"
import type { LoggedRequest } from "./model.js"
import { key, say, when } from "./state.js"

/** The height of a row in pixels, which is constant because only the visible rows are drawn. */
const ROW = 44
const BEYOND = 10

/** Copies a text, and shows a notice. */
export const copy = (text: string, what: string) =>
  (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
    () => say(`Copied: ${what}`),
    () => say(`The browser does not allow the page to copy. Select ${what}, and copy it yourself.`, false)
  )

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A request as a command for the terminal. */
const curlOf = ({ method, path, request }: LoggedRequest): string =>
  [
    `curl -s -X ${method} ${quoted(new URL(path, location.origin).href)}`,
    `-H ${quoted(`Authorization: Bearer ${key.peek()?.text ?? "$WORKSHOP_KEY"}`)}`,
    ...Object.entries(request.headers)
      .filter(([name]) => name === "content-type" || name === "idempotency-key")
      .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(request.body === null || request.body === "" ? [] : [`-d ${quoted(request.body)}`])
  ].join(" \\\n  ")

const Headers = ({ headers }: { headers: Readonly<Record<string, string>> }) => (
  <pre>
    {Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n")}
  </pre>
)

const RequestDetail = ({ request }: { request: LoggedRequest }) => (
  <>
    <h4>Request</h4>
    <Headers headers={request.request.headers} />
    {request.request.body !== null && request.request.body !== "" && <pre>{indentJson(request.request.body)}</pre>}
    <h4>
      Response {request.status}, {request.duration_ms.toFixed(1)} ms
    </h4>
    {request.fault === "lose_answer" && (
      <p class="bad">
        This response never arrived. The request was executed, but its connection was cut before the response.
      </p>
    )}
    <Headers headers={request.response.headers} />
    <pre>{indentJson(request.response.body)}</pre>
    <button type="button" onClick={() => void copy(curlOf(request), "the request as a curl command")}>
      Copy as curl
    </button>
  </>
)

const Detail = ({ row, close }: { row: Row; close: () => void }) => (
  <section class="detail" aria-label="Details of the selected row">
    <header>
      <h3>{row.text}</h3>
      <button type="button" onClick={close} aria-label="Close">
        ✕
      </button>
    </header>
    {row.kind === "request" ? <RequestDetail request={row.detail} /> : <pre>{JSON.stringify(row.detail, null, 2)}</pre>}
  </section>
)

const FeedRow = ({ row, top, choose, isChosen }: { row: Row; top: number; choose: () => void; isChosen: boolean }) => (
  <li style={{ top: `${top}px` }}>
    <button
      type="button"
      class={`feed-row ${row.kind} ${row.ok ? "" : "bad"}`}
      aria-expanded={isChosen}
      onClick={choose}
    >
      <i class={`swatch ${row.kind}`} aria-hidden="true" />
      <span class="text" title={row.text}>
        {row.text}
      </span>
      <span class={row.ok ? "mark good" : "mark bad"}>
        {row.mark !== "" && row.kind !== "clock" && <span aria-hidden="true">{row.ok ? "✓ " : "✗ "}</span>}
        {row.mark}
      </span>
      <span class="dim">
        <time dateTime={row.at}>{when(row.at)}</time> · {row.kind}
        {row.why !== "" && <b> · {row.why}</b>}
      </span>
    </button>
  </li>
)

const Chips = () => {
  const toggle = (kind: FeedKind) => () => {
    const next = new Set(chosen.value)
    if (!next.delete(kind)) next.add(kind)
    chosen.value = next
  }
  return (
    <fieldset class="chips" aria-label="Show rows by kind">
      {feedKinds.map((kind) => (
        <button type="button" key={kind} aria-pressed={chosen.value.has(kind)} onClick={toggle(kind)}>
          <i class={`swatch ${kind}`} aria-hidden="true" />
          {kind}
        </button>
      ))}
    </fieldset>
  )
}

const links = {
  streaming: "live",
  connecting: "connecting…",
  polling: "no live stream, updated every 2 s"
} as const

/** The feed of everything that happens in the sandbox. */
export const Live = () => {
  const top = useSignal(0)
  const height = useSignal(600)
  const open = useSignal<number | null>(null)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => {
      height.value = entry!.contentRect.height
    })
    watcher.observe(box.current!)
    return () => watcher.disconnect()
  }, [])
  const rows = shownRows.value
  const first = Math.max(0, Math.floor(top.value / ROW) - BEYOND)
  const seen = rows.slice(first, first + Math.ceil(height.value / ROW) + 2 * BEYOND)
  const row = rows.find(({ id }) => id === open.value)
  return (
    <section class="panel area-live" aria-label="Live" tabIndex={-1}>
      <header>
        <h2>Live</h2>
        <span class="dim">{rows.length}</span>
        <span class={`link-state ${link.value}`} role="status">
          {links[link.value]}
          {token.value !== "" && link.value === "streaming" ? ", with token" : ""}
        </span>
      </header>
      <Chips />
      <div
        class="feed scroll"
        ref={box}
        onScroll={({ currentTarget }) => {
          top.value = currentTarget.scrollTop
        }}
      >
        {rows.length === 0 && (
          <p class="empty">Requests, events and attempts appear here as they happen. Let your till call the API.</p>
        )}
        <ol style={{ height: `${rows.length * ROW}px` }}>
          {seen.map((one, i) => (
            <FeedRow
              key={one.id}
              row={one}
              top={(first + i) * ROW}
              isChosen={open.value === one.id}
              choose={() => {
                open.value = open.value === one.id ? null : one.id
              }}
            />
          ))}
        </ol>
      </div>
      {row !== undefined && (
        <Detail
          row={row}
          close={() => {
            open.value = null
          }}
        />
      )}
      <p class="unseen" aria-live="polite">
        {rows[0] === undefined ? "" : `${rows[0].text} ${rows[0].mark} ${rows[0].why}`}
      </p>
    </section>
  )
}
