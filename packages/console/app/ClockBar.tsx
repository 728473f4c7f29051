import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { exactly, instantIn, roughly, shortIn, timeIn, yearIn } from "./format.js"
import type { Due } from "./model.js"
import { clock, dues, isLimitDue, moveClock, open, present, zone } from "./state.js"

const STEPS = ["1m", "1h", "24h", "60d"] as const

/** Moves the clock forward by a length of time. */
export const advance = (length: string) => moveClock({ advance: length }, `${length} later`)

/** Moves the clock to an instant, or so many milliseconds beside it. */
export const goTo = ({ at, text }: Pick<Due, "at" | "text">, beside_ms = 0) => {
  const to = Date.parse(at) + beside_ms
  const where = beside_ms === 0 ? "" : beside_ms < 0 ? "1 ms before: " : "1 ms after: "
  return to <= present.peek()
    ? moveClock({ advance: "0ms" }, "That is now")
    : moveClock({ to: new Date(to).toISOString() }, `${where}${text}`)
}

/** The first thing that falls due after the present. */
export const nextDue = (): Due | undefined => dues.value.find(({ at }) => Date.parse(at) > present.peek())

/** Stops the clock, or lets it run. */
export const freeze = () =>
  moveClock({ freeze: !clock.peek().frozen }, clock.peek().frozen ? "The clock runs" : "The clock is frozen")

/** A button that opens something below it, which closes with Escape or a click elsewhere. */
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
        <b>in {roughly(at - present.value)}</b>
        <small>{shortIn(zone.value, at, present.value)}</small>
      </span>
      <span class="what">
        <i class={`dot ${due.kind}`} aria-hidden="true" />
        {due.text}
        {due.ticket_id !== null && (
          <button type="button" class="link" onClick={() => open(due.ticket_id)}>
            {due.number_label}
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

const Agenda = ({ close }: { close: () => void }) => (
  <div class="agenda">
    <header>
      <h2>What falls due next</h2>
      <label>
        <input
          type="checkbox"
          checked={isLimitDue.value}
          onChange={({ currentTarget }) => {
            isLimitDue.value = currentTarget.checked
          }}
        />{" "}
        limits too
      </label>
    </header>
    {dues.value.length === 0 && <p class="empty">Nothing falls due by time alone.</p>}
    <ol>
      {dues.value.slice(0, 20).map((due) => (
        <AgendaRow key={`${due.at}${due.text}`} due={due} close={close} />
      ))}
    </ol>
  </div>
)

/** The clock: when it is, what falls due next, and how to get there. */
export const ClockBar = () => {
  const wanted = useSignal("")
  const now = present.value
  const next = dues.value.find(({ at }) => Date.parse(at) > now)
  const { frozen, ahead_ms } = clock.value
  return (
    <section class="clock-bar" aria-label="Clock">
      <div class="face" title={new Date(now).toISOString()}>
        <time class="now" title={yearIn(zone.value, now)} dateTime={new Date(now).toISOString()}>
          {now === 0 ? "…" : instantIn(zone.value, now)}
        </time>
        <span class="dim">
          {zone.value.replace(/^.*\//, "").replace("_", " ")} · {timeIn("UTC", now)} UTC
          {ahead_ms > 999 && <b> · {roughly(ahead_ms)} ahead</b>}
        </span>
      </div>
      <div class="steps">
        <button type="button" class={frozen ? "on" : ""} aria-pressed={frozen} onClick={() => void freeze()} title="f">
          {frozen ? "▶ Run" : "❚❚ Freeze"}
        </button>
        {STEPS.map((step) => (
          <button type="button" key={step} onClick={() => void advance(step)}>
            +{step.replace(/(\d)([a-z])/, "$1 $2")}
          </button>
        ))}
        <form
          onSubmit={(event) => {
            event.preventDefault()
            const text = wanted.value.trim()
            if (text === "") return
            void (/^\d{4}-/.test(text) ? moveClock({ to: text }, text) : advance(text.replaceAll(" ", ""))).then(
              ({ ok }) => {
                if (ok) wanted.value = ""
              }
            )
          }}
        >
          <input
            aria-label="Move the clock by a length of time, or to an instant"
            placeholder="24h1ms"
            value={wanted.value}
            onInput={({ currentTarget }) => {
              wanted.value = currentTarget.value
            }}
          />
        </form>
      </div>
      <div class="due">
        <button
          type="button"
          class="primary next"
          disabled={next === undefined}
          title={next === undefined ? "" : `${next.at}, in ${exactly(Math.round(Date.parse(next.at) - now))}  (.)`}
          onClick={() => next && void goTo(next)}
        >
          <span aria-hidden="true">⇥ </span>
          {next === undefined ? (
            "Nothing is due"
          ) : (
            <>
              <span class="text">{next.text}</span> <b>in {roughly(Date.parse(next.at) - now)}</b>
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
