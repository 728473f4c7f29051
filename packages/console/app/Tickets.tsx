import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { Checkbox } from "./fields.js"
import { amount, minorOf, noPrice, roughDuration } from "./format.js"
import { type State, states, type Ticket } from "./model.js"
import {
  act,
  callApi,
  isBoard,
  losesAnswer,
  open,
  present,
  refresh,
  say,
  search,
  shop,
  shopId,
  stateFilter,
  ticketId,
  tickets
} from "./state.js"

/** The next event that time alone causes on a ticket. */
const nextOf = ({ next }: Ticket, now: number): string => {
  if (!next) return "no deadline"
  const left = roughDuration(Date.parse(next.at) - now)
  return next.kind === "closure" ? `closes in ${left}` : `can be reopened for ${left}`
}

/** The item and the service. */
export const titleOf = ({ service, item }: Pick<Ticket, "service" | "item">): string =>
  item === null ? service : `${item}: ${service.toLowerCase()}`

export const StatePill = ({ state }: { state: State }) => <span class={`pill ${state}`}>{state}</span>

const Row = ({ ticket }: { ticket: Ticket }) => (
  <li>
    <button
      type="button"
      class="ticket"
      aria-current={ticketId.value === ticket.id}
      onClick={() => open(ticket.id)}
      data-ticket={ticket.id}
    >
      <span class="number">{ticket.number_label}</span>
      <span class="title">{titleOf(ticket)}</span>
      <StatePill state={ticket.state} />
      <span class="dim">
        {nextOf(ticket, present.value)}
        {ticket.external_ref !== null && ` · ${ticket.external_ref}`}
      </span>
    </button>
  </li>
)

const shownAtOnce = 60

/** A list that shows only its first entries until the tester asks for more, because many tickets make the page slow. */
const List = ({ all }: { all: ReadonlyArray<Ticket> }) => {
  const max = useSignal(shownAtOnce)
  return (
    <>
      <ul class="tickets">
        {all.slice(0, max.value).map((ticket) => (
          <Row key={ticket.id} ticket={ticket} />
        ))}
      </ul>
      {all.length > max.value && (
        <button
          type="button"
          class="more"
          onClick={() => {
            max.value += shownAtOnce
          }}
        >
          {all.length - max.value} more
        </button>
      )}
    </>
  )
}

/** The first field of the form that the key `n` opens. */
export const newTicketField = { current: null as HTMLInputElement | null }

const NewTicket = () => {
  const form = useRef<HTMLFormElement>(null)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const values = new FormData(form.current!)
    const text = (name: string) => String(values.get(name) ?? "").trim()
    const price = minorOf(text("price"), shop.value?.decimals ?? 0)
    if (price === null && text("price") !== "") return say(noPrice(text("price")), false)
    const body = {
      service: text("service"),
      ...(text("item") === "" ? {} : { item: text("item") }),
      ...(price === null ? {} : { price_minor: price }),
      ...(text("phone") === "" ? {} : { client_phone: text("phone") })
    }
    const asApp = (event.submitter as HTMLButtonElement | null)?.value === "app"
    const answer = asApp
      ? await act("POST", `/shops/${shopId.value}/tickets`, body, "The app created a ticket")
      : await callApi("POST", "/v1/tickets", body, "The till created a ticket")
    if (answer.data?.id === undefined) return
    form.current?.reset()
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    open(answer.data.id)
  }
  return (
    <details class="new">
      <summary>
        New ticket <kbd>n</kbd>
      </summary>
      <form ref={form} onSubmit={submit}>
        <label>
          Service
          <input
            name="service"
            required
            placeholder="Resoling"
            ref={(input) => {
              newTicketField.current = input
            }}
          />
        </label>
        <label>
          Item
          <input name="item" placeholder="Brown boots" />
        </label>
        <label>
          Price, {shop.value?.currency}
          <input name="price" inputMode="decimal" placeholder="45" />
        </label>
        <label>
          Phone
          <input name="phone" inputMode="tel" placeholder="+216…" />
        </label>
        <Checkbox of={losesAnswer} class="wide">
          lose the response, and repeat the request (only at the till)
        </Checkbox>
        <div class="wide row">
          <button type="submit" class="primary" value="till">
            Create at the till
          </button>
          <button type="submit" value="app">
            Create in the app
          </button>
        </div>
      </form>
    </details>
  )
}

const Filters = () => {
  const choose = (state: State | null) => () => {
    stateFilter.value = state
    void refresh()
  }
  return (
    <fieldset class="chips" aria-label="Show tickets by state">
      <button type="button" aria-pressed={stateFilter.value === null} onClick={choose(null)}>
        all
      </button>
      {states.map((state) => (
        <button type="button" key={state} aria-pressed={stateFilter.value === state} onClick={choose(state)}>
          <i class={`swatch ${state}`} aria-hidden="true" />
          {state}
        </button>
      ))}
    </fieldset>
  )
}

const Board = () => (
  <div class="board">
    {states.map((state) => {
      const all = tickets.value.filter((ticket) => ticket.state === state)
      return (
        <section key={state} aria-label={state}>
          <h3>
            <StatePill state={state} /> {all.length}
          </h3>
          <List all={all} />
        </section>
      )
    })}
  </div>
)

/** The shop's tickets. */
export const Tickets = () => (
  <section class="panel area-tickets" aria-label="Tickets" tabIndex={-1}>
    <header>
      <h2>Tickets</h2>
      <span class="dim">{tickets.value.length}</span>
      <fieldset class="chips" aria-label="Layout of the tickets">
        <button
          type="button"
          aria-pressed={!isBoard.value}
          onClick={() => {
            isBoard.value = false
          }}
        >
          list
        </button>
        <button
          type="button"
          aria-pressed={isBoard.value}
          onClick={() => {
            isBoard.value = true
          }}
        >
          board
        </button>
      </fieldset>
    </header>
    <div class="find">
      <input
        type="search"
        id="search"
        aria-label="Search tickets by number, phone, reference or words"
        placeholder="Number, phone, reference, words"
        value={search.value}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || search.value === "") return
          // The default is prevented, because the browser would clear the field without an event.
          event.preventDefault()
          search.value = ""
          void refresh()
        }}
        onInput={({ currentTarget }) => {
          search.value = currentTarget.value
          void refresh()
        }}
      />
      <Filters />
    </div>
    <NewTicket />
    <div class="scroll">
      {tickets.value.length === 0 && (
        <p class="empty">
          {shop.value === null
            ? "There is no shop. Create a shop with + at the top."
            : search.value !== "" || stateFilter.value !== null
              ? "No ticket matches the search."
              : "There are no tickets yet. Create a ticket above or with your till, and it appears here at once."}
        </p>
      )}
      {isBoard.value ? <Board /> : <List all={tickets.value} />}
    </div>
  </section>
)

/** The amount that is still to be paid, in words. */
export const moneyOf = ({ money }: Ticket): string =>
  money.price_minor === null
    ? "no price"
    : `${amount(money.price_minor, money)}${money.remaining_minor !== null && money.remaining_minor !== money.price_minor ? `, ${amount(money.remaining_minor, money)} to pay` : ""}`
