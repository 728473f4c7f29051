import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { isGone, read } from "./api.js"
import { isAcknowledged, outcomeOf } from "./Deliveries.js"
import { Checkbox, typedInto } from "./fields.js"
import { clockMoveOf, dayIn, exactDuration, instantIn, roughDuration, timeIn, yearIn } from "./format.js"
import type { Attempt, Delivery, Due } from "./model.js"
import { clock, dues, isLimitDue, isRecording, moveClock, open, present, say, when, zone } from "./state.js"

const STEPS = ["1m", "1h", "24h", "60d"] as const

const spaced = (length: string): string =>
  length.replaceAll(/(\d)([a-z])/g, "$1 $2").replaceAll(/([a-z])(\d)/g, "$1 $2")

/** Moves the clock forward by a length of time. */
export const advance = (length: string) => moveClock({ advance: length }, `${spaced(length)} later`)

/** The outcome of the attempt that was due; undefined if the service made none. */
const attemptOf = async ({ kind, at, shop_id, ticket_id, event_id }: Due): Promise<Attempt | undefined> => {
  if (kind !== "retry") return undefined
  const asked = ticket_id === null ? "" : `?ticket=${ticket_id}`
  const sent = (await read<ReadonlyArray<Delivery>>(`/shops/${shop_id}/deliveries${asked}`)) ?? []
  const attempts = sent.find((delivery) => delivery.event_id === event_id)?.attempts ?? []
  return attempts.find(({ started_at }) => Date.parse(started_at) >= Date.parse(at))
}

/**
 * Moves the clock to an entry of the agenda, or `beside_ms` milliseconds after it (before it if negative), and shows
 * the outcome.
 */
export const goTo = async (due: Due, beside_ms = 0): Promise<void> => {
  const to = Date.parse(due.at) + beside_ms
  if (to <= present.peek()) return void (await moveClock({ advance: "0ms" }, "The clock already shows this time"))
  const moved = await moveClock({ to: new Date(to).toISOString() })
  if (moved?.ok !== true) return
  if (beside_ms < 0) return say(`1 ms before: ${due.text}`)
  const attempt = await attemptOf(due)
  if (attempt !== undefined) return say(`${due.text}: ${outcomeOf(attempt)}`, isAcknowledged(attempt))
  say(beside_ms > 0 ? `1 ms after: ${due.text}` : due.text)
}

/** The first entry of the agenda after the current time. */
export const nextDue = (): Due | undefined => dues.value.find(({ at }) => Date.parse(at) > present.peek())

/** Stops the clock, or lets it run. Asks first if another person's recording needs it frozen. */
export const freeze = async (): Promise<void> => {
  const { frozen, frozen_by } = clock.peek()
  const isOther = frozen_by !== null && !isRecording.peek()
  if (
    isOther &&
    !confirm(
      `The clock is frozen by ${frozen_by}. Unfreezing it would spoil that, because time would pass. Unfreeze it?`
    )
  )
    return
  await moveClock({ freeze: !frozen }, frozen ? "The clock is running" : "The clock is frozen")
}

/** A button that opens a sheet below it, which closes with Escape or a click elsewhere. */
export const Popover = ({
  label,
  title,
  children,
  end = false,
  primary = false
}: {
  label: ComponentChildren
  title: string
  children: (close: () => void) => ComponentChildren
  end?: boolean
  primary?: boolean
}) => {
  const isOpen = useSignal(false)
  const box = useRef<HTMLDivElement>(null)
  const close = () => {
    isOpen.value = false
  }
  useEffect(() => {
    if (!isOpen.value) return
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) close()
    }
    const escaped = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return
      close()
      box.current?.querySelector("button")?.focus()
    }
    document.addEventListener("pointerdown", outside)
    document.addEventListener("keydown", escaped)
    return () => {
      document.removeEventListener("pointerdown", outside)
      document.removeEventListener("keydown", escaped)
    }
  }, [isOpen.value])
  return (
    <div class="popover" ref={box}>
      <button
        type="button"
        class={primary ? "primary" : ""}
        aria-expanded={isOpen.value}
        aria-label={title}
        title={title}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        {label}
      </button>
      {isOpen.value && <div class={end ? "sheet end" : "sheet"}>{children(close)}</div>}
    </div>
  )
}

const AgendaRow = ({ due, close }: { due: Due; close: () => void }) => {
  const go = (beside_ms: number) => () => {
    void goTo(due, beside_ms)
    close()
  }
  const at = Date.parse(due.at)
  return (
    <li>
      <span class="when">
        <b>in {roughDuration(at - present.value)}</b>
        <small>{when(due.at)}</small>
      </span>
      <span class="what">
        <i class={`dot ${due.kind}`} aria-hidden="true" />
        {due.text}{" "}
        {due.ticket_id !== null && (
          <button type="button" class="link" onClick={() => open(due.ticket_id)}>
            open
          </button>
        )}
      </span>
      <span class="go">
        <button type="button" onClick={go(-1)} title="1 ms before" aria-label={`1 ms before: ${due.text}`}>
          −1 ms
        </button>
        <button type="button" class="primary" onClick={go(0)} aria-label={`Go to: ${due.text}`}>
          Go
        </button>
        <button type="button" onClick={go(1)} title="1 ms after" aria-label={`1 ms after: ${due.text}`}>
          +1 ms
        </button>
      </span>
    </li>
  )
}

/**
 * The buttons that move the clock by common durations, a field for any other duration, and the button that stops the
 * clock.
 */
const Steps = ({ label }: { label: string }) => {
  const wanted = useSignal("")
  const { frozen } = clock.value
  const submit = async (event: Event) => {
    event.preventDefault()
    const text = wanted.value.trim()
    if (text === "") return
    const move = clockMoveOf(text, zone.peek())
    if (move === null)
      return say(
        `"${text}" is neither a length of time nor a date. Enter a length of time such as 3d or 24h1ms, or a date such as 2026-12-01 or 2026-12-01T09:30.`,
        false
      )
    if ("to" in move && Date.parse(move.to) < present.peek())
      return say(`${text} is in the past, but the clock moves only forward. Enter a later time.`, false)
    const moved = "to" in move ? await moveClock(move, text) : await advance(move.advance)
    if (moved?.ok === true) wanted.value = ""
  }
  return (
    <fieldset class="steps" aria-label={label}>
      <button
        type="button"
        class={frozen ? "freeze on" : "freeze"}
        aria-pressed={frozen}
        onClick={() => void freeze()}
        title="f"
      >
        {frozen ? "▶ Unfreeze" : "❚❚ Freeze"}
      </button>
      {STEPS.map((step) => (
        <button type="button" key={step} onClick={() => void advance(step)}>
          +{spaced(step)}
        </button>
      ))}
      <form onSubmit={submit}>
        <input
          aria-label="Move the clock by a length of time, or to an instant"
          placeholder="24h1ms"
          value={wanted.value}
          onInput={typedInto(wanted)}
        />
      </form>
    </fieldset>
  )
}

const Agenda = ({ close }: { close: () => void }) => (
  <div class="agenda">
    <div class="narrow-only">
      <Steps label="Move the clock" />
    </div>
    <header>
      <h2>Scheduled next</h2>
      <Checkbox of={isLimitDue}>also show when limits reset</Checkbox>
    </header>
    {dues.value.length === 0 && <p class="empty">Nothing is scheduled.</p>}
    <ol>
      {dues.value.slice(0, 20).map((due) => (
        <AgendaRow key={`${due.at}${due.text}`} due={due} close={close} />
      ))}
    </ol>
  </div>
)

/** The clock: its time, the next entries of the agenda, and the buttons that move the clock. */
export const ClockBar = () => {
  const now = present.value
  const next = dues.value.find(({ at }) => Date.parse(at) > now)
  const { frozen, frozen_by, ahead_ms } = clock.value
  return (
    <section class="clock-bar" aria-label="Clock" inert={isGone.value}>
      <div class="face" title={new Date(now).toISOString()}>
        <span class="now">
          <time title={yearIn(zone.value, now)} dateTime={new Date(now).toISOString()}>
            {now !== 0 && <span class="wide-text">{dayIn(zone.value, now).slice(0, 4)}</span>}
            {now === 0 ? "…" : instantIn(zone.value, now).slice(4)}
          </time>
          {frozen && <small class="wide-text">frozen</small>}
        </span>
        <span class="dim">
          {frozen && <span class="narrow-text">frozen · </span>}
          <span class="wide-text">{now === 0 ? "" : `${yearIn(zone.value, now)} · `}</span>
          <span class={frozen_by === null ? "" : "wide-text"}>
            {zone.value.replace(/^.*\//, "").replace("_", " ")}
            {frozen_by === null ? "" : " · "}
          </span>
          {frozen_by === null ? <span class="wide-text"> · {timeIn("UTC", now)} UTC</span> : `by ${frozen_by}`}
          {ahead_ms > 999 && <b> · {roughDuration(ahead_ms)} ahead</b>}
        </span>
      </div>
      <Steps label="Move the clock" />
      <div class="due">
        <button
          type="button"
          class="primary next"
          disabled={next === undefined}
          title={
            next === undefined
              ? ""
              : `${next.text}: ${next.at}, in ${exactDuration(Math.round(Date.parse(next.at) - now))}  (.)`
          }
          onClick={() => next && void goTo(next)}
        >
          {next === undefined ? (
            "Nothing is scheduled"
          ) : (
            <>
              <span aria-hidden="true">⇥</span>
              <span class="text">
                <b>in {roughDuration(Date.parse(next.at) - now)}</b> {next.text}
              </span>
            </>
          )}
        </button>
        <Popover label="▾" title="Agenda" end primary>
          {(close) => <Agenda close={close} />}
        </Popover>
      </div>
    </section>
  )
}
