import { pluralize, roughDuration } from "./format.js"
import type { Attempt, Delivery } from "./model.js"
import { act, deliveries, history, present, shopId, webhook, when } from "./state.js"

/** Whether the receiver acknowledged the event. */
export const isAcknowledged = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300

/** The reason why an attempt failed, or the status of its response. */
export const outcomeOf = ({ status, error }: Attempt): string => String(status ?? error ?? "no response")

const Bead = ({ attempt, before }: { attempt: Attempt; before: Attempt | undefined }) => {
  const at = Date.parse(attempt.started_at)
  return (
    <li>
      {before !== undefined && <span class="gap">+{roughDuration(at - Date.parse(before.started_at))}</span>}
      <span
        class={isAcknowledged(attempt) ? "bead good" : "bead bad"}
        title={`attempt ${attempt.n}, ${attempt.started_at}${attempt.detail === null ? "" : `: ${attempt.detail}`}`}
      >
        <span aria-hidden="true">{isAcknowledged(attempt) ? "✓" : "✗"}</span> {outcomeOf(attempt)}
      </span>
      <time class="dim" dateTime={attempt.started_at}>
        {when(attempt.started_at)}
      </time>
    </li>
  )
}

/** A button that sends events to the shop's webhook, for the first time or again. */
const SendButton = ({ ids, label, said }: { ids: ReadonlyArray<string>; label: string; said: string }) => (
  <button
    type="button"
    onClick={() => void act("POST", `/shops/${shopId.value}/deliveries/replay`, { event_ids: ids }, said)}
  >
    {label}
  </button>
)

const Row = ({ delivery }: { delivery: Delivery }) => {
  const { event_id, type, attempts, state, next_attempt_at } = delivery
  const last = attempts.at(-1)
  return (
    <li class="delivery">
      <code>{type}</code>
      <ol class="beads">
        {attempts.map((attempt, i) => (
          <Bead key={attempt.n} attempt={attempt} before={attempts[i - 1]} />
        ))}
        {next_attempt_at !== null && state === "pending" && (
          <li>
            {last !== undefined && (
              <span class="gap">+{roughDuration(Date.parse(next_attempt_at) - Date.parse(last.started_at))}</span>
            )}
            <span class="bead next">
              next in {roughDuration(Math.max(0, Date.parse(next_attempt_at) - present.value))}
            </span>
          </li>
        )}
      </ol>
      <span class={`outcome ${state}`}>{state === "parked" ? "waits" : state === "dead" ? "given up" : state}</span>
      <SendButton ids={[event_id]} label="Send again" said={`${type} is being sent again`} />
    </li>
  )
}

const reasons: Readonly<Record<string, string>> = {
  gone: "its receiver responded 410",
  failing: "its receiver failed for too long",
  disabled: "its owner turned it off"
}

/** The state of the webhook, with advice if it is off. */
export const WebhookBanner = () => {
  const current = webhook.value
  if (current === null) return null
  const { url, on, off_reason, off_since, parked } = current
  if (url === null)
    return (
      <p class="banner">
        <span>This shop has no webhook, so its events are not sent.</span>
        <button
          type="button"
          class="primary"
          onClick={({ currentTarget }) => {
            // The focus moves to the panel, because the button disappears.
            currentTarget.closest<HTMLElement>(".panel")?.focus()
            void act("PUT", `/shops/${shopId.value}/receiver`, { use: true }, "Events go to the built-in receiver")
          }}
        >
          Use the built-in receiver
        </button>
      </p>
    )
  if (on) return null
  const since = off_since === null ? "" : ` since ${when(off_since)}`
  return (
    <p class="banner bad" role="status">
      <span>
        <b>The webhook is off{since}</b>
        {off_reason !== null && `: ${reasons[off_reason] ?? off_reason.replaceAll("_", " ")}`}.{" "}
        {parked === 0 ? "Nothing waits." : `${parked} ${parked === 1 ? "event waits" : "events wait"}.`}
      </span>
      <button
        type="button"
        class="primary"
        onClick={() => void act("POST", `/shops/${shopId.value}/webhook/enable`, undefined, "The webhook is on")}
      >
        {parked === 0 ? "Turn on" : `Turn on and send ${parked}`}
      </button>
    </p>
  )
}

/** The events of a ticket from before the webhook was set, with a button that sends them. */
const Unsent = () => {
  const ids = (history.value?.entries ?? []).filter(({ kind }) => kind === "event").map(({ id }) => id)
  if (ids.length === 0) return <p class="empty">This ticket has no events.</p>
  return (
    <p class="banner">
      <span>
        {ids.length === 1 ? "Its event" : `Its ${ids.length} events`} happened before the webhook was set, and{" "}
        {ids.length === 1 ? "is" : "are"} not sent automatically.
      </span>
      <SendButton
        ids={ids}
        label={`Send ${pluralize(ids.length, "event")}`}
        said={`${pluralize(ids.length, "event")} ${ids.length === 1 ? "is" : "are"} being sent`}
      />
    </p>
  )
}

/** The ticket's events and their deliveries. */
export const Deliveries = () => (
  <section class="deliveries" aria-label="Deliveries">
    <WebhookBanner />
    {deliveries.value.length === 0 ? (
      webhook.value?.url != null && <Unsent />
    ) : (
      <ul>
        {deliveries.value.map((delivery) => (
          <Row key={delivery.event_id} delivery={delivery} />
        ))}
      </ul>
    )}
  </section>
)
