import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { type Answer, isGone, read } from "./api.js"
import { Popover } from "./ClockBar.js"
import { Deliveries } from "./Deliveries.js"
import { minorOf, noPrice, refusalText, roughDuration } from "./format.js"
import { copy } from "./Live.js"
import type { Move, Ticket } from "./model.js"
import {
  act,
  callApi,
  deliveries,
  history,
  losesAnswer,
  moveClock,
  moves,
  open,
  present,
  say,
  shop,
  ticket,
  ticketId,
  tickets,
  zone
} from "./state.js"
import { moneyOf, StatePill, titleOf } from "./Tickets.js"
import { Timeline } from "./Timeline.js"

/** The acts without further input, each status with its shortcut. */
const plain: Readonly<Record<string, { readonly text: string; readonly key?: string }>> = {
  "status:ready": { text: "Ready", key: "r" },
  "status:collected": { text: "Collected", key: "c" },
  "status:workshop": { text: "Back to workshop", key: "w" },
  "status:impossible": { text: "Impossible", key: "i" },
  accept: { text: "Client accepts" },
  refuse: { text: "Client refuses" }
}

interface Field {
  readonly name: string
  readonly label: string
  readonly type?: string
  readonly choices?: ReadonlyArray<string>
  readonly initial?: string
  readonly required?: boolean
}

/** The acts that need input. */
const asking: Readonly<Record<string, { readonly text: string; readonly fields: ReadonlyArray<Field> }>> = {
  notified: {
    text: "Notify client…",
    fields: [{ name: "channel", label: "How", choices: ["sms", "whatsapp", "call"], initial: "sms" }]
  },
  quote: {
    text: "New price…",
    fields: [
      { name: "price", label: "New price", required: true },
      { name: "note", label: "Why" }
    ]
  },
  delay: {
    text: "Delay…",
    fields: [
      { name: "days", label: "Days from now", initial: "2", required: true },
      { name: "reason", label: "Why" }
    ]
  },
  part: {
    text: "Part…",
    fields: [
      { name: "label", label: "Part", required: true },
      { name: "status", label: "Status", choices: ["ordered", "received"], initial: "ordered" }
    ]
  },
  photo: { text: "Photo…", fields: [{ name: "photo_url", label: "https address of a picture", required: true }] }
}

/** Sets the status of the ticket, as the till does. */
export const setStatus = (status: string) => {
  const id = ticketId.peek()
  if (id === null) return undefined
  return callApi("POST", `/v1/tickets/${id}/status`, { status }, `The ticket is now ${status}`)
}

const perform = async (name: string, values: Readonly<Record<string, string>> = {}): Promise<Answer | undefined> => {
  const id = ticketId.peek()
  if (name.startsWith("status:")) return setStatus(name.slice(7))
  const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""))
  const on = (path: string, body: object | undefined, done: string) => act("POST", `/tickets/${id}/${path}`, body, done)
  switch (name) {
    case "accept":
      return on("quote/accept", undefined, "The client accepted the price")
    case "refuse":
      return on("quote/refuse", undefined, "The client refused the price")
    case "notified":
      return callApi("POST", `/v1/tickets/${id}/notified`, filled, `The client was notified by ${filled.channel}`)
    case "quote": {
      const price_minor = minorOf(values.price ?? "", shop.peek()?.decimals ?? 0)
      if (price_minor === null) return say(noPrice(values.price ?? ""), false)
      return on("quote", { price_minor, ...(filled.note && { note: filled.note }) }, "The new price was proposed")
    }
    case "delay": {
      const days = Number(values.days)
      if (!Number.isFinite(days))
        return say(`"${values.days}" is not a number of days. Enter a number, such as 2.`, false)
      const promised_at = new Date(present.peek() + days * 86_400_000).toISOString()
      return on(
        "delay",
        { promised_at, ...(filled.reason && { reason: filled.reason }) },
        "The promised date was postponed"
      )
    }
    default:
      return on(name, filled, `Recorded: ${name}`)
  }
}

const Ask = ({ name, close }: { name: string; close: () => void }) => {
  const form = useRef<HTMLFormElement>(null)
  const { text, fields } = asking[name]!
  useEffect(() => form.current?.querySelector<HTMLElement>("input, select")?.focus(), [])
  return (
    <form
      ref={form}
      class="ask"
      aria-label={text}
      onSubmit={(event) => {
        event.preventDefault()
        const values = Object.fromEntries(new FormData(form.current!)) as Record<string, string>
        // If the request is refused, the form stays open with the entered values.
        void perform(name, values).then((answer) => answer?.ok && close())
      }}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      {fields.map((field) => (
        <label key={field.name}>
          {field.label}
          {field.choices === undefined ? (
            <input name={field.name} defaultValue={field.initial ?? ""} required={field.required ?? false} />
          ) : (
            <select name={field.name} defaultValue={field.initial ?? ""}>
              {field.choices.map((choice) => (
                <option key={choice}>{choice}</option>
              ))}
            </select>
          )}
        </label>
      ))}
      <button type="submit" class="primary">
        {text.replace("…", "")}
      </button>
      <button type="button" onClick={close}>
        Cancel
      </button>
    </form>
  )
}

const MoveButton = ({ move, ask }: { move: Move; ask: (name: string) => void }) => {
  const { act: name, accepted, reason } = move
  const { text, key } = plain[name] ?? { text: asking[name]?.text ?? name }
  return (
    <button
      type="button"
      class={accepted ? "move lit" : "move grey"}
      data-act={name}
      title={
        accepted ? "The request would be accepted" : `The request would be refused with ${reason}. Press to try it.`
      }
      onClick={() => (name in asking ? ask(name) : void perform(name))}
    >
      {key !== undefined && <kbd>{key}</kbd>}
      <span>{text}</span>
      {!accepted && history.value !== null && <small>{refusalText(move, history.value, present.value)}</small>}
    </button>
  )
}

const Moves = () => {
  const asked = useSignal<string | null>(null)
  const ask = (name: string) => {
    asked.value = asked.value === name ? null : name
  }
  const of = (isStatus: boolean) => moves.value.filter(({ act: name }) => name.startsWith("status:") === isStatus)
  return (
    <section class="moves" aria-label="Actions on the ticket" inert={isGone.value}>
      <div class="statuses">
        {of(true).map((move) => (
          <MoveButton key={move.act} move={move} ask={ask} />
        ))}
      </div>
      <div class="others">
        {of(false).map((move) => (
          <MoveButton key={move.act} move={move} ask={ask} />
        ))}
        <button
          type="button"
          class="move lit"
          aria-pressed={losesAnswer.value}
          title="The till’s next request is executed, but its response is lost, so the console sends the same request again"
          onClick={() => {
            losesAnswer.value = !losesAnswer.value
          }}
        >
          {losesAnswer.value ? "✓ Lose the next response" : "Lose the next response"}
        </button>
      </div>
      {losesAnswer.value && (
        <p class="dim" role="status">
          The response to the till’s next request, such as Ready, will be lost, and the console will send the same
          request again.
        </p>
      )}
      {asked.value !== null && <Ask key={asked.value} name={asked.value} close={() => (asked.value = null)} />}
    </section>
  )
}

const Fields = ({ of }: { of: Ticket }) => (
  <details class="fields">
    <summary>Fields</summary>
    <pre>{JSON.stringify(of, null, 2)}</pre>
  </details>
)

/** The QR code for a receipt. */
const QrCode = ({ id }: { id: string }) => {
  const shown = useSignal<{ readonly svg: string; readonly tracking_url: string } | null>(null)
  useEffect(() => {
    void read<{ svg: string; tracking_url: string }>(`/tickets/${id}/qr`).then((code) => {
      shown.value = code ?? null
    })
  }, [id])
  if (shown.value === null) return <p class="empty">…</p>
  const { svg, tracking_url } = shown.value
  return (
    <figure class="qr">
      <img src={`data:image/svg+xml,${encodeURIComponent(svg)}`} alt={`QR code of ${tracking_url}`} />
      <figcaption>{tracking_url}</figcaption>
    </figure>
  )
}

const Head = ({ of }: { of: Ticket }) => (
  <header class="ticket-head">
    <h2>
      <span class="number">{of.number_label}</span> {titleOf(of)}
    </h2>
    <StatePill state={of.state} />
    <span class="dim">
      {moneyOf(of)}
      {of.client !== null && ` · ${of.client.display_name}`}
      {of.client === null && of.client_phone !== null && ` · ${of.client_phone}`}
      {` · by the ${of.created_via === "api" ? "till" : "app"}`}
    </span>
    <button type="button" class="link" onClick={() => void copy(location.href, "the address of this ticket")}>
      Copy link
    </button>
    {of.tracking_url !== null && (
      <span class="client-page">
        <a href={of.tracking_url} target="_blank" rel="noreferrer">
          Client’s page
        </a>
        <Popover label="QR" title="QR code of the client’s page" end>
          {() => <QrCode key={of.id} id={of.id} />}
        </Popover>
      </span>
    )}
  </header>
)

/** Makes the first delivery of a new ticket fail, so that a new tester can move the clock to the second attempt. */
const showRetry = async (): Promise<void> => {
  const set = await act("PUT", `/shops/${shop.peek()?.id}/receiver`, { use: true, answer: 500, times: 1 })
  if (!set.ok) return
  const created = await callApi("POST", "/v1/tickets", { service: "Resoling", item: "Brown boots" })
  if (!created.ok) return
  open(created.data.id)
  say(
    "The first attempt to send the ticket’s first event will fail. Then press the blue button at the top to move to the second attempt."
  )
}

/** One ticket: the acts that it accepts, its story, and its events. */
export const TicketArea = () => {
  const current = ticket.value
  return (
    <section class="panel area-ticket" aria-label="Ticket" tabIndex={-1}>
      {current === null ? (
        <div class="nothing">
          <h2>
            {isGone.value
              ? "The server does not respond"
              : tickets.value.length === 0
                ? "Create the first ticket"
                : "Choose a ticket"}
          </h2>
          <p>
            {isGone.value ? (
              "The ticket appears here when the server responds again."
            ) : tickets.value.length === 0 ? (
              <>
                Press <kbd>n</kbd>, or create one with your till and this shop’s key.
              </>
            ) : (
              <>
                Press <kbd>j</kbd> and <kbd>k</kbd> to select a ticket in the list. The ticket’s actions, timeline and
                deliveries appear here.
              </>
            )}
          </p>
          <h2>New here?</h2>
          <p>
            To see a retry, create a ticket with this button. The built-in receiver fails once. Then press the blue
            button at the top, or <kbd>.</kbd>, to move the clock to the second attempt.
          </p>
          <button
            type="button"
            class="primary"
            disabled={shop.value === null || isGone.value}
            onClick={() => void showRetry()}
          >
            Show me a retry
          </button>
        </div>
      ) : (
        <div class="scroll">
          <Head of={current} />
          <Moves key={current.id} />
          <Timeline
            key={`timeline ${current.id}`}
            history={history.value!}
            deliveries={deliveries.value}
            now={present.value}
            zone={zone.value}
            moveTo={(at) =>
              void moveClock({ to: new Date(at).toISOString() }, `${roughDuration(at - present.peek())} later`)
            }
          />
          <h3 class="section">Deliveries</h3>
          <Deliveries />
          <Fields of={current} />
        </div>
      )}
    </section>
  )
}
