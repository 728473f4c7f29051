import { useSignal, useSignalEffect } from "@preact/signals"
import { WebhookBanner } from "./Deliveries.js"
import { counted, laidOut, shortIn } from "./format.js"
import { copy } from "./Live.js"
import type { Received, Receiver } from "./model.js"
import { act, present, received, receiver, say, shopId, webhook, zone } from "./state.js"

const answers = [
  [200, "200"],
  [500, "500"],
  [410, "410"],
  ["cut", "cut"],
  ["silent", "silent"],
  ["late", "late"]
] as const

const behave = (body: Partial<Receiver> & { use?: true }, done: string) =>
  act("PUT", `/shops/${shopId.peek()}/receiver`, body, done)

const Behaviour = ({ of }: { of: Receiver }) => {
  const times = useSignal("")
  const onward = useSignal(of.forward_to ?? "")
  // The address is in the field only while events are forwarded to it.
  useSignalEffect(() => {
    onward.value = receiver.value?.forward_to ?? ""
  })
  const count = Number(times.value) > 0 ? { times: Number(times.value) } : {}
  return (
    <div class="behaviour">
      <p class="dim">
        {of.forward_to !== null
          ? `Forwards events to ${of.forward_to}, and responds as that does.`
          : of.times === null
            ? `Responds ${of.answer} to every event.`
            : `Responds ${of.answer} to the next ${of.times}, then ${of.afterwards}.`}
      </p>
      <fieldset class="chips" aria-label="How the receiver responds">
        {answers.map(([answer, text]) => (
          <button
            type="button"
            key={text}
            aria-pressed={of.forward_to === null && of.answer === answer}
            onClick={() => void behave({ answer, ...count }, `The receiver responds ${text}`)}
          >
            {text}
          </button>
        ))}
      </fieldset>
      <label class="inline">
        only the next
        <input
          class="small"
          inputMode="numeric"
          placeholder="all"
          value={times.value}
          onInput={({ currentTarget }) => {
            times.value = currentTarget.value
          }}
        />
        , then 200
      </label>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          const forward_to = onward.value.trim() === "" ? null : onward.value.trim()
          void behave(
            { forward_to },
            forward_to === null ? "The receiver responds by itself" : `Events are forwarded to ${forward_to}`
          )
        }}
      >
        <input
          type="url"
          aria-label="Forward events to this address"
          placeholder="Forward to http://127.0.0.1:3000/hooks"
          value={onward.value}
          onInput={({ currentTarget }) => {
            onward.value = currentTarget.value
          }}
        />
        <button type="submit">{onward.value.trim() === "" && of.forward_to !== null ? "Stop" : "Forward"}</button>
      </form>
    </div>
  )
}

const Signature = ({ of }: { of: Received }) => (
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
      <pre>{laidOut(of.body)}</pre>
    </dd>
  </dl>
)

const Got = ({ of }: { of: Received }) => {
  const isGood = /^2/.test(of.answered)
  return (
    <li>
      <details>
        <summary>
          <time class="dim" dateTime={of.at}>
            {shortIn(zone.value, Date.parse(of.at), present.peek())}
          </time>
          <code>{of.type}</code>
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

const Address = () => {
  const url = useSignal("")
  const id = shopId.value
  const found = webhook.value
  return (
    <div class="webhook">
      <dl class="facts">
        <dt>Webhook</dt>
        <dd>
          {found?.url === null || found === null ? (
            "none"
          ) : (
            <>
              <b class={found.on ? "good" : "bad"}>{found.on ? "on" : "off"}</b>{" "}
              {receiver.value?.in_use ? "the built-in receiver" : <code>{found.url}</code>}
              {found.failures_in_row > 0 && (
                <span class="bad"> · {counted(found.failures_in_row, "failure")} in a row</span>
              )}
            </>
          )}
        </dd>
      </dl>
      <WebhookBanner />
      <div class="row">
        {receiver.value?.in_use === false && found?.url !== null && (
          <button type="button" onClick={() => void behave({ use: true }, "Events go to the built-in receiver")}>
            Use the built-in receiver
          </button>
        )}
        {found?.url != null && (
          <>
            <button
              type="button"
              onClick={() => void act("POST", `/shops/${id}/webhook/ping`, undefined, "A ping is sent")}
            >
              Send a ping
            </button>
            {found.on && (
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
                void act("POST", `/shops/${id}/webhook/rotate`).then(({ ok, data }) => {
                  if (ok) void copy(data.secret, "the new secret")
                })
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
          void act("PUT", `/shops/${id}/webhook`, { url: url.value.trim() }, "The webhook leads there").then(
            ({ ok, data }) => {
              if (!ok) return
              url.value = ""
              if (data.secret) say(`The webhook leads to ${data.url}. Its secret: ${data.secret}`)
            }
          )
        }}
      >
        <input
          type="url"
          required
          aria-label="Address of the webhook"
          placeholder="Or my own address: http://127.0.0.1:3000/hooks"
          value={url.value}
          onInput={({ currentTarget }) => {
            url.value = currentTarget.value
          }}
        />
        <button type="submit">Set</button>
      </form>
    </div>
  )
}

/** The shop's webhook, the built-in receiver, and what it got. */
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
        <p class="empty">Nothing yet. Each event appears here with its signature, checked.</p>
      )}
    </div>
  </section>
)
