import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { Deliveries } from "./Deliveries.js"
import { exactly, minorOf } from "./format.js"
import type { Move, Ticket } from "./model.js"
import {
  act,
  callApi,
  deliveries,
  history,
  losesAnswer,
  moveClock,
  moves,
  present,
  shop,
  ticket,
  ticketId,
  tickets,
  zone
} from "./state.js"
import { moneyOf, StatePill, titleOf } from "./Tickets.js"
import { Timeline } from "./Timeline.js"

/** The acts that need no more words, with the key of each status. */
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

/** The acts that ask for something first. */
const asking: Readonly<Record<string, { readonly text: string; readonly fields: ReadonlyArray<Field> }>> = {
  notified: {
    text: "Told the client…",
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
      { name: "status", label: "It is", choices: ["ordered", "received"], initial: "ordered" }
    ]
  },
  photo: { text: "Photo…", fields: [{ name: "photo_url", label: "https address of a picture", required: true }] }
}

/** Sets the status of the ticket, as the till does. */
export const setStatus = (status: string) => {
  const id = ticketId.peek()
  if (id === null) return
  void callApi("POST", `/v1/tickets/${id}/status`, { status }, `It is ${status} now`)
}

const perform = (name: string, values: Readonly<Record<string, string>> = {}) => {
  const id = ticketId.peek()
  if (name.startsWith("status:")) return setStatus(name.slice(7))
  const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""))
  const on = (path: string, body: object | undefined, done: string) =>
    void act("POST", `/tickets/${id}/${path}`, body, done)
  switch (name) {
    case "accept":
      return on("quote/accept", undefined, "The client accepts the price")
    case "refuse":
      return on("quote/refuse", undefined, "The client refuses the price")
    case "notified":
      return void callApi("POST", `/v1/tickets/${id}/notified`, filled, `The client was told by ${filled.channel}`)
    case "quote": {
      const price_minor = minorOf(values.price ?? "", shop.peek()?.decimals ?? 0)
      return on("quote", { price_minor, ...(filled.note && { note: filled.note }) }, "A new price is proposed")
    }
    case "delay": {
      const days = Number(values.days)
      const promised_at = new Date(present.peek() + (Number.isFinite(days) ? days : 1) * 86_400_000).toISOString()
      return on("delay", { promised_at, ...(filled.reason && { reason: filled.reason }) }, "The promise is later")
    }
    default:
      return on(name, filled, `Noted: ${name}`)
  }
}

const Ask = ({ name, close }: { name: string; close: () => void }) => {
  const form = useRef<HTMLFormElement>(null)
  const { text, fields } = asking[name]!
  return (
    <form
      ref={form}
      class="ask"
      aria-label={text}
      onSubmit={(event) => {
        event.preventDefault()
        perform(name, Object.fromEntries(new FormData(form.current!)) as Record<string, string>)
        close()
      }}
    >
      {fields.map((field, i) => (
        <label key={field.name}>
          {field.label}
          {field.choices === undefined ? (
            <input
              name={field.name}
              defaultValue={field.initial ?? ""}
              required={field.required ?? false}
              autoFocus={i === 0}
            />
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
      title={accepted ? "It would be accepted" : `It would be refused: ${reason}. Press it to try.`}
      onClick={() => (name in asking ? ask(name) : perform(name))}
    >
      {key !== undefined && <kbd>{key}</kbd>}
      <span>{text}</span>
      {!accepted && <small>{reason?.replaceAll("_", " ").toLowerCase()}</small>}
    </button>
  )
}

const Moves = () => {
  const asked = useSignal<string | null>(null)
  const all = [...moves.value, { act: "photo", accepted: true, reason: null }]
  const ask = (name: string) => {
    asked.value = asked.value === name ? null : name
  }
  const of = (isStatus: boolean) => all.filter(({ act: name }) => name.startsWith("status:") === isStatus)
  return (
    <section class="moves" aria-label="What can be done">
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
          title="The till's next request is done, its answer is lost, and the same request is sent again"
          onClick={() => {
            losesAnswer.value = !losesAnswer.value
          }}
        >
          {losesAnswer.value ? "Next answer is lost…" : "Lose the answer and repeat"}
        </button>
      </div>
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
    {of.tracking_url !== null && (
      <a href={of.tracking_url} target="_blank" rel="noreferrer">
        Client’s page
      </a>
    )}
  </header>
)

/** One ticket: what it would accept, its story, and its events. */
export const TicketArea = () => {
  const found = ticket.value
  return (
    <section class="panel area-ticket" aria-label="Ticket">
      {found === null ? (
        <div class="nothing">
          <h2>{tickets.value.length === 0 ? "Open the first ticket" : "Choose a ticket"}</h2>
          <p>
            {tickets.value.length === 0
              ? "Press n, or create one with your till and this shop’s key."
              : "Press j and k to walk through the list. Its moves, its story on the clock and its deliveries appear here."}
          </p>
        </div>
      ) : (
        <div class="scroll">
          <Head of={found} />
          <Moves key={found.id} />
          <Timeline
            key={`timeline ${found.id}`}
            history={history.value!}
            deliveries={deliveries.value}
            now={present.value}
            zone={zone.value}
            moveTo={(at) =>
              void moveClock({ to: new Date(at).toISOString() }, `${exactly(Math.round(at - present.peek()))} later`)
            }
          />
          <h3 class="section">Deliveries</h3>
          <Deliveries />
          <Fields of={found} />
        </div>
      )}
    </section>
  )
}
