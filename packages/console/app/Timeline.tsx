import { useSignal } from "@preact/signals"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { dayIn, exactDuration, instantIn, roughDuration, shortIn, timeIn } from "./format.js"
import type { Delivery, Entry, History } from "./model.js"
import { evenScale, foldedScale, type Scale } from "./scale.js"
import { type PlacedEntry, type Story, storyOf } from "./story.js"

/** The position of each lane, in pixels. */
const LANES = { states: 44, events: 84, attempts: 114, requests: 0, windows: 0 }
const ATTEMPT = 18
const PAD = 26

interface Drawn {
  readonly story: Story
  readonly scale: Scale
  readonly zone: string
  readonly choose: (entry: Entry) => void
  readonly chosen: string | null
}

const pointX = ({ scale }: Drawn, { at, slot }: { at: number; slot: number }) => scale.nth(at, slot)

const SHORT: Readonly<Record<string, string>> = { lose_answer: "lost" }

/** A short text for a request and its response. */
const requestText = ({ detail }: Entry): string => {
  const what = detail.path.split("?")[0].split("/").at(-1) ?? ""
  const body = /"status":\s*"(\w+)"/.exec(detail.request?.body ?? "")?.[1]
  return `${detail.status}${detail.replayed ? " replayed" : ""}${detail.fault ? ` ${SHORT[detail.fault] ?? detail.fault}` : ""} ${body ?? what}`
}

const Marker = ({
  drawn,
  placed: { entry },
  x,
  y,
  text,
  children
}: {
  drawn: Drawn
  placed: PlacedEntry
  x: number
  y: number
  /**
   * The text that is drawn beside the element. The accessible name begins with the text unless the title contains it.
   */
  text?: string
  children: preact.ComponentChildren
}) => (
  <g
    role="button"
    tabindex={0}
    class={`marker ${entry.kind} ${entry.ok ? "good" : "bad"} ${drawn.chosen === entry.id ? "chosen" : ""}`}
    transform={`translate(${x} ${y})`}
    aria-label={`${text === undefined || entry.title.includes(text) ? "" : `${text}: `}${entry.title}, ${instantIn(drawn.zone, Date.parse(entry.at))}`}
    onClick={() => drawn.choose(entry)}
    onKeyDown={(event) => {
      if (event.key !== "Enter" && event.key !== " ") return
      event.preventDefault()
      drawn.choose(entry)
    }}
  >
    <title>{`${entry.title}\n${instantIn(drawn.zone, Date.parse(entry.at))}`}</title>
    <rect class="target" x={-12} y={-13} width={24} height={26} />
    {children}
  </g>
)

/** The greatest width of a text in the picture, in pixels. */
const widthOf = (text: string): number => text.length * 6.5

const Axis = ({ drawn, height, now }: { drawn: Drawn; height: number; now: number }) => {
  const { story, scale, zone } = drawn
  let free = 0
  let day = ""
  const labels = story.anchors.flatMap(({ at }) => {
    const isNewDay = dayIn(zone, at) !== day
    const text = isNewDay ? shortDay(zone, at) : timeIn(zone, at)
    const width = widthOf(text)
    const left = Math.max(0, scale.at(at) - width / 2)
    if (left < free || left + width > scale.width) return []
    free = left + width + 10
    day = dayIn(zone, at)
    return [{ x: scale.at(at), left, at, text }]
  })
  return (
    <g class="axis">
      {labels.map(({ x, left, at, text }) => (
        <g key={at} class={at > now ? "later" : ""}>
          <line x1={x} x2={x} y1={34} y2={height} />
          <text x={left} y={12}>
            {text}
          </text>
        </g>
      ))}
      {scale.pauses
        .flatMap(({ from, to, ms }) => {
          // If the duration does not fit, only its unit is shown, because that still distinguishes a millisecond from
          // an hour.
          const [n, unit = ""] = roughDuration(ms).split(" ")
          const text = [roughDuration(ms), `${n} ${unit}`, unit].find((words) => to - from > words.length * 6 + 4)
          return text === undefined || (!story.isGoingOn && to > scale.at(now)) ? [] : [{ from, to, text }]
        })
        .map(({ from, to, text }) => (
          <text key={from} class="pause" x={(from + to) / 2} y={29} text-anchor="middle">
            {text}
          </text>
        ))}
    </g>
  )
}

const shortDay = (zone: string, at: number) => `${dayIn(zone, at).slice(4)} ${timeIn(zone, at).slice(0, 5)}`

const States = ({ drawn, now }: { drawn: Drawn; now: number }) => (
  <g>
    {drawn.story.stays.map(({ state, from, to }) => {
      const x = pointX(drawn, from)
      const end = to === null ? drawn.scale.at(now) : pointX(drawn, to)
      const future = to === null && drawn.story.isGoingOn ? drawn.scale.width - PAD - end : 0
      return (
        <g key={`${from.at}/${from.slot}`} class={`stay ${state}`} transform={`translate(0 ${LANES.states})`}>
          <rect x={x} width={Math.max(3, end - x - 1)} height={24} rx={4} />
          {end - x > state.length * 7.4 + 12 && (
            <text x={x + 8} y={16.5}>
              {state}
            </text>
          )}
          {future > 0 && state !== "abandoned" && <rect class="ahead" x={end} width={future} height={24} rx={4} />}
        </g>
      )
    })}
  </g>
)

const rowsOf = (story: Story): ReadonlyMap<string, number> => {
  const ids = new Set([
    ...story.placed.flatMap(({ entry }) => (entry.kind === "attempt" ? [entry.detail.event_id as string] : [])),
    ...story.coming.flatMap(({ event_id }) => (event_id === null ? [] : [event_id]))
  ])
  // Events whose attempts do not overlap share a row.
  const ends: Array<number> = []
  const rows = new Map<string, number>()
  for (const id of ids) {
    const own = [
      ...story.placed.filter(({ entry }) => entry.detail.event_id === id).map(({ at }) => at),
      ...story.coming.filter(({ event_id }) => event_id === id).map(({ at }) => at)
    ]
    const [from, to] = [Math.min(...own), Math.max(...own)]
    const free = ends.findIndex((end) => end < from)
    const row = free < 0 ? ends.length : free
    ends[row] = to
    rows.set(id, row)
  }
  return rows
}

const Deliveries = ({ drawn, rows }: { drawn: Drawn; rows: ReadonlyMap<string, number> }) => {
  const { story } = drawn
  const events = new Map(story.placed.filter(({ entry }) => entry.kind === "event").map((one) => [one.entry.id, one]))
  const yOf = (id: string) => LANES.attempts + (rows.get(id) ?? 0) * ATTEMPT
  const line = (event_id: string | null, x: number, y: number) => {
    const event = events.get(event_id ?? "")
    if (event === undefined) return null
    const from = pointX(drawn, event)
    return <path class="thread" d={`M${from} ${LANES.events} C${from} ${y} ${from} ${y} ${x} ${y}`} />
  }
  const attempts = story.placed.filter(({ entry }) => entry.kind === "attempt")
  return (
    <g>
      {attempts.map((one) => (
        <g key={one.entry.id}>{line(one.entry.detail.event_id, pointX(drawn, one), yOf(one.entry.detail.event_id))}</g>
      ))}
      {story.coming.map(({ at, text, event_id }) => (
        <g key={`${at}${event_id}`} class="coming">
          {line(event_id, drawn.scale.at(at), yOf(event_id ?? ""))}
          <circle cx={drawn.scale.at(at)} cy={yOf(event_id ?? "")} r={6}>
            <title>{`${text}\n${instantIn(drawn.zone, at)}`}</title>
          </circle>
        </g>
      ))}
      {attempts.map((one) => (
        <Marker key={one.entry.id} drawn={drawn} placed={one} x={pointX(drawn, one)} y={yOf(one.entry.detail.event_id)}>
          <rect class="bead" x={-7} y={-7} width={14} height={14} rx={4} />
          <text class="sign" aria-hidden="true" y={4} text-anchor="middle">
            {one.entry.ok ? "✓" : "✗"}
          </text>
        </Marker>
      ))}
      {[...events.values()].map((one) => (
        <Marker key={one.entry.id} drawn={drawn} placed={one} x={pointX(drawn, one)} y={LANES.events}>
          <circle r={5} />
        </Marker>
      ))}
    </g>
  )
}

/** The lane of the requests, or of the notices to the owner. */
const Row = ({ drawn, kind, y }: { drawn: Drawn; kind: "request" | "notice"; y: number }) => {
  const all = drawn.story.placed
    .filter(({ entry }) => entry.kind === kind)
    .map((one) => ({ one, x: pointX(drawn, one) }))
    .sort((a, b) => a.x - b.x)
  return (
    <g>
      {all.map(({ one, x }, i) => {
        const whole = kind === "notice" ? one.entry.title.replace("_", " ") : requestText(one.entry)
        const end = (all[i + 1]?.x ?? drawn.scale.width + 12) - 18
        const text = one.entry.ok ? undefined : [whole, whole.split(" ")[0]!].find((words) => x + widthOf(words) < end)
        return (
          <Marker key={one.entry.id} drawn={drawn} placed={one} x={x} y={y} {...(text === undefined ? {} : { text })}>
            {one.entry.ok ? (
              <path class="arrow" d="M-4 4 L0 -5 L4 4 Z" />
            ) : (
              <path class="cross" d="M-4 -4 L4 4 M4 -4 L-4 4" />
            )}
            {text !== undefined && (
              <text class="why" aria-hidden="true" x={9} y={4}>
                {text}
              </text>
            )}
          </Marker>
        )
      })}
    </g>
  )
}

/** Places a text within a bar if it fits, otherwise beside it. */
const textBeside = (x: number, end: number, width: number, room: number) =>
  end - x > width + 14
    ? { x: x + 9, anchor: "start" }
    : end + width + 12 < room
      ? { x: end + 6, anchor: "start" }
      : { x: x - 6, anchor: "end" }

const Windows = ({ drawn, history, now, y }: { drawn: Drawn; history: History; now: number; y: number }) => (
  <g>
    {history.windows.map(({ kind, from, to }, i) => {
      const [x, end] = [drawn.scale.at(Date.parse(from)), drawn.scale.at(Date.parse(to))]
      const words = kind === "reopen" ? "can be reopened" : "closes automatically"
      const text = `${words}, ${roughDuration(Date.parse(to) - Date.parse(from))}`
      const width = widthOf(text)
      const at = drawn.scale.at(now)
      // The text is moved if the line of the current time would cross it.
      const place = textBeside(x + 9 + width > at && x < at ? at : x, end, width, drawn.scale.width)
      return (
        <g key={`${kind}${from}`} class={`window ${kind}`} transform={`translate(0 ${y + i * 20})`}>
          <rect x={x} width={Math.max(2, end - x)} height={14} rx={7}>
            <title>{`${words}: ${instantIn(drawn.zone, Date.parse(from))} to ${instantIn(drawn.zone, Date.parse(to))}`}</title>
          </rect>
          <text x={place.x} y={10.5} text-anchor={place.anchor}>
            {text}
          </text>
        </g>
      )
    })}
  </g>
)

/** The distance in pixels at which the line of the current time snaps to an entry of the agenda. */
const SNAP = 9

/** The milliseconds by which each key moves the line of the current time. */
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 60_000, PageUp: 3_600_000 }

const Now = ({
  drawn,
  height,
  now,
  moveTo
}: {
  drawn: Drawn
  height: number
  now: number
  moveTo: (at: number) => void
}) => {
  const dragged = useSignal<number | null>(null)
  const { scale, story, zone } = drawn
  const at = dragged.value ?? now
  const x = scale.at(at)
  const wantedAt = (event: PointerEvent): number => {
    const svg = (event.currentTarget as SVGElement).ownerSVGElement!
    const place = event.clientX - svg.getBoundingClientRect().left
    const due = story.anchors.find((one) => one.at > now && Math.abs(scale.at(one.at) - place) < SNAP)
    return Math.max(now, due?.at ?? scale.instantAt(Math.min(place, scale.width - PAD)))
  }
  const onKey = (event: KeyboardEvent) => {
    const next = story.anchors.find((one) => one.at > now)
    const to = event.key === "End" ? next?.at : event.key in STEPS ? now + STEPS[event.key]! : undefined
    if (to === undefined) return
    event.preventDefault()
    moveTo(to)
  }
  return (
    <g class={dragged.value === null ? "present" : "present dragged"}>
      <line x1={x} x2={x} y1={34} y2={height - 4} />
      {dragged.value !== null && (
        <text
          x={x + (x > scale.width - 190 ? -8 : 8)}
          y={height - 8}
          text-anchor={x > scale.width - 190 ? "end" : "start"}
        >
          {shortIn(zone, at, now)} · +{roughDuration(at - now)}
        </text>
      )}
      <g
        role="slider"
        tabindex={0}
        class="grip"
        aria-label="The present. To move the clock, drag the mark forward, or press the right arrow for a minute, Page Up for an hour, or End for the next event"
        aria-valuenow={now}
        aria-valuetext={instantIn(zone, now)}
        transform={`translate(${x} 40)`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          dragged.value = now
        }}
        onPointerMove={(event) => {
          if (dragged.value !== null) dragged.value = wantedAt(event)
        }}
        onPointerUp={(event) => {
          if (dragged.value === null) return
          const to = wantedAt(event)
          dragged.value = null
          if (to > now) moveTo(to)
        }}
        onPointerCancel={() => {
          dragged.value = null
        }}
        onKeyDown={onKey}
      >
        <title>{`now: ${instantIn(zone, now)}. Drag it to the right to move the clock.`}</title>
        <rect class="target" x={-16} y={-16} width={32} height={height} />
        <path d="M-8 -8 H4 L11 0 L4 8 H-8 Z" />
      </g>
    </g>
  )
}

/** The names of the lanes, which stay in place while the picture is scrolled. */
const LaneNames = ({ rows, lanes }: { rows: number; lanes: ReadonlyArray<readonly [name: string, top: number]> }) => (
  <div class="lane-names" aria-hidden="true">
    <span style={{ top: `${LANES.states + 4}px` }}>state</span>
    <span style={{ top: `${LANES.events - 8}px` }}>events</span>
    {rows > 0 && <span style={{ top: `${LANES.attempts - 8}px` }}>attempts</span>}
    {lanes.map(([name, top]) => (
      <span key={name} style={{ top: `${top}px` }}>
        {name}
      </span>
    ))}
  </div>
)

/** A ticket's story on a time axis of the sandbox's clock. */
export const Timeline = ({
  history,
  deliveries,
  now,
  zone,
  moveTo
}: {
  history: History
  deliveries: ReadonlyArray<Delivery>
  now: number
  zone: string
  moveTo: ((at: number) => void) | null
}) => {
  const room = useSignal(600)
  const zoom = useSignal(0)
  const chosen = useSignal<Entry | null>(null)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => {
      room.value = Math.max(280, Math.floor(entry!.contentRect.width))
    })
    watcher.observe(box.current!)
    return () => watcher.disconnect()
  }, [])
  // A running clock moves only the line of the current time. The picture is not drawn again until something else
  // changes.
  const story = useMemo(() => storyOf(history, deliveries, now), [history, deliveries, Math.floor(now / 10_000)])
  const scale = useMemo(
    () =>
      zoom.value === 0
        ? foldedScale(story.anchors, room.value, PAD)
        : evenScale(story.anchors, room.value, PAD, zoom.value),
    [story, room.value, zoom.value]
  )
  const drawn: Drawn = {
    ...{ story, scale, zone, chosen: chosen.value?.id ?? null },
    choose: (entry) => {
      chosen.value = chosen.value?.id === entry.id ? null : entry
    }
  }
  const rows = rowsOf(story)
  const depth = Math.max(0, ...rows.values()) + (rows.size > 0 ? 1 : 0)
  const requests = LANES.attempts + depth * ATTEMPT + 4
  const notices = requests + (history.entries.some(({ kind }) => kind === "notice") ? 22 : 0)
  const windows = history.windows.length > 0 ? notices + 22 : null
  const height = (windows ?? notices + 18) + history.windows.length * 20 + 16
  useEffect(() => {
    const place = scale.at(now)
    const shown = box.current!
    if (place > shown.scrollLeft + shown.clientWidth - 60 || place < shown.scrollLeft)
      shown.scrollLeft = place - shown.clientWidth * 0.7
  }, [scale])
  return (
    <section class="timeline" aria-label="Timeline">
      <header>
        <h3>Timeline</h3>
        {moveTo !== null && <span class="dim hint">Drag the red mark to the right to move the clock</span>}
        <fieldset class="chips" aria-label="Scale of the timeline">
          {(
            [
              [0, "folded"],
              [1, "even"],
              [8, "×8"],
              [64, "×64"]
            ] as const
          ).map(([factor, name]) => (
            <button
              type="button"
              key={factor}
              aria-pressed={zoom.value === factor}
              onClick={() => {
                zoom.value = factor
              }}
            >
              {name}
            </button>
          ))}
        </fieldset>
      </header>
      <div class="timeline-box">
        <LaneNames
          rows={depth}
          lanes={[
            ["requests", requests - 8],
            ...(notices > requests ? [["notices", notices - 8] as const] : []),
            ...(windows === null ? [] : [["windows", windows - 1] as const])
          ]}
        />
        <div class="timeline-scroll" ref={box}>
          <svg
            width={scale.width}
            height={height}
            role="group"
            aria-label={`What happened to ticket ${history.ticket.number_label}`}
          >
            <Axis drawn={drawn} height={height} now={now} />
            {windows !== null && <Windows drawn={drawn} history={history} now={now} y={windows} />}
            <States drawn={drawn} now={now} />
            {moveTo !== null && <Now drawn={drawn} height={height} now={now} moveTo={moveTo} />}
            <Deliveries drawn={drawn} rows={rows} />
            <Row drawn={drawn} kind="request" y={requests} />
            <Row drawn={drawn} kind="notice" y={notices} />
          </svg>
        </div>
      </div>
      {chosen.value !== null && (
        <Chosen entry={chosen.value} zone={zone} now={now} close={() => (chosen.value = null)} />
      )}
    </section>
  )
}

const Chosen = ({ entry, zone, now, close }: { entry: Entry; zone: string; now: number; close: () => void }) => {
  const ago = now - Date.parse(entry.at)
  return (
    <section class="detail inline" aria-label="Details of the selected entry">
      <header>
        <h3>{entry.title}</h3>
        <span class="dim">
          {instantIn(zone, Date.parse(entry.at))} ·{" "}
          <span title={exactDuration(Math.max(0, Math.round(ago)))}>
            {ago <= 0 ? "now" : `${roughDuration(ago)} ago`}
          </span>
        </span>
        <button type="button" onClick={close} aria-label="Close">
          ✕
        </button>
      </header>
      <pre>{JSON.stringify(entry.detail, null, 2)}</pre>
    </section>
  )
}
