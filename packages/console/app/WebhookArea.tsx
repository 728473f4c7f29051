import { signal, useSignal, useSignalEffect } from "@preact/signals"
import { read, send } from "./api.js"
import { isAcknowledged, outcomeOf, WebhookBanner } from "./Deliveries.js"
import { typedInto } from "./fields.js"
import { indentJson, pluralize } from "./format.js"
import { copy } from "./Live.js"
import type { Delivery, ReceivedEvent, Receiver } from "./model.js"
import { act, received, receiver, say, shopId, webhook, when } from "./state.js"

const answers = [
  [200, "accepts the event"],
  [500, "fails, so the service sends the event again"],
  [410, "responds that it is gone, so the service turns the webhook off"],
  ["cut", "cuts the connection before a response"],
  ["silent", "never responds"],
  ["late", "responds after more than the ten seconds that the sender waits"]
] as const

const behave = (body: Partial<Receiver> & { use?: true }, done: string) =>
  act("PUT", `/shops/${shopId.peek()}/receiver`, body, done)

const Behaviour = ({ of }: { of: Receiver }) => {
  const times = useSignal("")
  const onward = useSignal(of.forward_to ?? "")
  // The field shows the address only while events are forwarded to it.
  useSignalEffect(() => {
    onward.value = receiver.value?.forward_to ?? ""
  })
  const count = Number(times.value) > 0 ? { times: Number(times.value) } : {}
  return (
    <div class="behaviour">
      <p class="dim">
        {of.forward_to !== null
          ? `The receiver forwards events to ${of.forward_to}, and responds as that address does.`
          : of.times === null
            ? `The receiver responds ${of.answer} to every event.`
            : `The receiver responds ${of.answer} to the next ${pluralize(of.times, "event")}, and then ${of.afterwards}.`}
      </p>
      <fieldset class="chips" aria-label="How the receiver responds">
        {answers.map(([answer, meaning]) => (
          <button
            type="button"
            key={answer}
            title={`It ${meaning}`}
            aria-pressed={of.forward_to === null && of.answer === answer}
            onClick={() => void behave({ answer, ...count }, `The receiver ${meaning}`)}
          >
            {answer}
          </button>
        ))}
      </fieldset>
      <p class="dim">
        {answers
          .filter(([answer]) => typeof answer === "string")
          .map(([answer, meaning]) => `${answer}: ${meaning}`)
          .join(" · ")}
      </p>
      <label class="inline">
        How many events
        <input class="small" inputMode="numeric" placeholder="all" value={times.value} onInput={typedInto(times)} />
        {"times" in count && <span class="dim">and then 200</span>}
      </label>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          const forward_to = onward.value.trim() === "" ? null : onward.value.trim()
          void behave(
            { forward_to },
            forward_to === null ? "The receiver no longer forwards events" : `Events are forwarded to ${forward_to}`
          )
        }}
      >
        <input
          inputMode="url"
          aria-label="Forward events to this address"
          placeholder="Forward to http://…"
          value={onward.value}
          onInput={typedInto(onward)}
        />
        <button type="submit">{onward.value.trim() === "" && of.forward_to !== null ? "Stop" : "Forward"}</button>
      </form>
    </div>
  )
}

const Signature = ({ of }: { of: ReceivedEvent }) => (
  <dl class="signature">
    <dt>Signature</dt>
    <dd class={of.signature.ok ? "good" : "bad"}>{of.signature.ok ? "✓ valid" : "✗ not valid"}</dd>
    <dt>Signed text</dt>
    <dd>
      <code>{of.signature.base}</code>
    </dd>
    <dt>Expected</dt>
    <dd>
      <code>{of.signature.expected}</code>
    </dd>
    <dt>Got</dt>
    <dd>
      <code>{of.signature.got}</code>
    </dd>
    <dt>Headers</dt>
    <dd>
      <pre>
        {Object.entries(of.headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join("\n")}
      </pre>
    </dd>
    <dt>Body</dt>
    <dd>
      <pre>{indentJson(of.body)}</pre>
    </dd>
  </dl>
)

const Got = ({ of }: { of: ReceivedEvent }) => {
  const isGood = /^2/.test(of.answered)
  return (
    <li>
      <details>
        <summary>
          <time class="dim" dateTime={of.at}>
            {when(of.at)}
          </time>
          <code>
            {of.type} {JSON.parse(of.body).data?.ticket?.number_label}
          </code>
          <span class={of.signature.ok ? "good" : "bad"} title="its signature">
            {of.signature.ok ? "✓ signed" : "✗ signature"}
          </span>
          <span class={isGood ? "mark good" : "mark bad"}>
            <span aria-hidden="true">{isGood ? "✓ " : "✗ "}</span>
            {of.answered}
          </span>
        </summary>
        <Signature of={of} />
      </details>
    </li>
  )
}

/** A new secret, which is shown until it is dismissed, because the service returns it only once. */
const secret = signal<{ readonly shop: string | null; readonly text: string } | null>(null)

const Secret = () => {
  const current = secret.value
  if (current === null || current.shop !== shopId.value) return null
  return (
    <section class="banner" aria-label="The webhook’s secret">
      <span>
        Your receiver checks signatures with this secret, which is shown only here: <code>{current.text}</code>
      </span>
      <span class="row">
        <button type="button" class="primary" onClick={() => void copy(current.text, "the secret")}>
          Copy
        </button>
        <button type="button" onClick={() => (secret.value = null)}>
          Dismiss
        </button>
      </span>
    </section>
  )
}

/** Sends a ping, and shows the outcome of the first attempt. */
const ping = async (): Promise<void> => {
  const id = shopId.peek()
  const { ok, data } = await act("POST", `/shops/${id}/webhook/ping`)
  if (!ok) return
  // The call of the clock returns after the attempt was made.
  await send("POST", "/sandbox/clock", { body: { advance: "0ms" } })
  const sent = (await read<ReadonlyArray<Delivery>>(`/shops/${id}/deliveries`)) ?? []
  const attempt = sent.find(({ event_id }) => event_id === data.id)?.attempts.at(-1)
  const to = webhook.peek()?.url ?? ""
  const host = receiver.peek()?.in_use ? "the built-in receiver" : URL.canParse(to) ? new URL(to).host : to
  if (attempt === undefined)
    return say(webhook.peek()?.on ? "The ping is waiting to be sent." : "The ping waits until the webhook is on.")
  say(`Ping to ${host}: ${outcomeOf(attempt)}`, isAcknowledged(attempt))
}

const Address = () => {
  const url = useSignal("")
  const id = shopId.value
  const current = webhook.value
  return (
    <div class="webhook">
      <dl class="facts">
        <dt>Webhook</dt>
        <dd>
          {current?.url === null || current === null ? (
            "none"
          ) : (
            <>
              <b class={current.on ? "good" : "bad"}>{current.on ? "on" : "off"}</b>{" "}
              {receiver.value?.in_use ? "the built-in receiver" : <code>{current.url}</code>}
              {current.failures_in_row > 0 && (
                <span class="bad"> · {pluralize(current.failures_in_row, "failure")} in a row</span>
              )}
            </>
          )}
        </dd>
      </dl>
      <WebhookBanner />
      <Secret />
      <div class="row">
        {receiver.value?.in_use === false && current?.url !== null && (
          <button type="button" onClick={() => void behave({ use: true }, "Events go to the built-in receiver")}>
            Use the built-in receiver
          </button>
        )}
        {current?.url != null && (
          <>
            <button type="button" onClick={() => void ping()}>
              Send a ping
            </button>
            {current.on && (
              <button
                type="button"
                onClick={() => void act("POST", `/shops/${id}/webhook/disable`, undefined, "The webhook is off")}
              >
                Turn off
              </button>
            )}
            <button
              type="button"
              onClick={() =>
                void act("POST", `/shops/${id}/webhook/rotate`, undefined, "The webhook has a new secret").then(
                  ({ ok, data }) => {
                    if (ok) secret.value = { shop: id, text: data.secret }
                  }
                )
              }
            >
              New secret
            </button>
          </>
        )}
      </div>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          void act("PUT", `/shops/${id}/webhook`, { url: url.value.trim() }, "The webhook’s address is set").then(
            ({ ok, data }) => {
              if (!ok) return
              url.value = ""
              if (data.secret) secret.value = { shop: id, text: data.secret }
            }
          )
        }}
      >
        <input
          inputMode="url"
          required
          aria-label="Address of the webhook"
          placeholder="Address of your own receiver: http://…"
          value={url.value}
          onInput={typedInto(url)}
        />
        <button type="submit">Set</button>
      </form>
    </div>
  )
}

/** The shop's webhook, the built-in receiver, and the events that it received. */
export const WebhookArea = () => (
  <section class="panel area-webhook" aria-label="Webhook" tabIndex={-1}>
    <header>
      <h2>Webhook</h2>
    </header>
    <div class="scroll">
      <Address />
      <h3 class="section">Built-in receiver</h3>
      {receiver.value !== null && <Behaviour key={shopId.value} of={receiver.value} />}
      <h3 class="section">Received {received.value.length}</h3>
      <ul class="received">
        {received.value
          .slice(-100)
          .reverse()
          .map((one) => (
            <Got key={one.id} of={one} />
          ))}
      </ul>
      {received.value.length === 0 && (
        <p class="empty">No events yet. Each received event appears here with the check of its signature.</p>
      )}
    </div>
  </section>
)
