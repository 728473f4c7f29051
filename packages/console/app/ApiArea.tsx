import { useSignal } from "@preact/signals"
import { typedInto } from "./fields.js"
import { pluralize, roughDuration } from "./format.js"
import { copy } from "./Live.js"
import type { Fault, Limit } from "./model.js"
import { act, clients, faults, key, limits, moveClock, present, shop, shopId, when } from "./state.js"

const kinds: ReadonlyArray<readonly [Fault["fault"], string, string]> = [
  ["lose_answer", "lose the response", "The request is executed, but its connection is cut before the response"],
  ["503", "503", "503 with Retry-After; the request is not executed"],
  ["429", "429", "429 by the request limit; the request is not executed"],
  ["delay", "delay", "The request waits before it is executed"]
]

const targets: ReadonlyArray<readonly [string, string | null, string | null]> = [
  ["any request", null, null],
  ["POST /v1/tickets", "POST", "/v1/tickets"],
  ["POST …/status", "POST", "/v1/tickets/{id}/status"],
  ["POST …/notified", "POST", "/v1/tickets/{id}/notified"],
  ["GET /v1/tickets", "GET", "/v1/tickets"],
  ["GET /v1/clients", "GET", "/v1/clients"]
]

const setFaults = (next: ReadonlyArray<Fault>, done: string) =>
  act("PUT", "/faults", { faults: next.map(({ id: _, ...fault }) => fault) }, done)

const nameOf = ({ fault, delay_ms }: Fault): string =>
  fault === "delay" ? `delay ${delay_ms} ms` : (kinds.find(([kind]) => kind === fault)?.[1] ?? fault)

const Faults = () => {
  const kind = useSignal<Fault["fault"]>("lose_answer")
  const target = useSignal(1)
  const next = useSignal("1")
  const delay = useSignal("2000")
  const add = (event: Event) => {
    event.preventDefault()
    const [, method, path] = targets[target.value]!
    const fault: Fault = {
      ...{ method, path, fault: kind.value },
      next: Number(next.value) > 0 ? Number(next.value) : null,
      ...(kind.value === "delay" ? { delay_ms: Number(delay.value) || 1000 } : {})
    }
    void setFaults([...faults.value, fault], "The fault is set")
  }
  return (
    <section aria-label="Faults of the API">
      <h3 class="section">Faults of the API</h3>
      <form class="fault-form" onSubmit={add}>
        <fieldset class="chips" aria-label="What goes wrong">
          {kinds.map(([name, text, title]) => (
            <button
              type="button"
              key={name}
              title={title}
              aria-pressed={kind.value === name}
              onClick={() => {
                kind.value = name
              }}
            >
              {text}
            </button>
          ))}
        </fieldset>
        <label>
          of the next
          <input class="small" inputMode="numeric" placeholder="all" value={next.value} onInput={typedInto(next)} />
        </label>
        <label>
          requests
          <select
            value={target.value}
            onChange={({ currentTarget }) => {
              target.value = Number(currentTarget.value)
            }}
          >
            {targets.map(([text], i) => (
              <option key={text} value={i}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {kind.value === "delay" && (
          <label>
            milliseconds
            <input class="small" inputMode="numeric" value={delay.value} onInput={typedInto(delay)} />
          </label>
        )}
        <button type="submit" class="primary">
          Add the fault
        </button>
      </form>
      <ul class="faults">
        {faults.value.map((fault) => (
          <li key={fault.id}>
            <b>{nameOf(fault)}</b>
            <span>
              {fault.method ?? "any"} {fault.path ?? "path"} · {fault.next === null ? "always" : `${fault.next} left`}
            </span>
            <button
              type="button"
              aria-label={`Clear: ${nameOf(fault)}`}
              onClick={() =>
                void setFaults(
                  faults.value.filter((one) => one !== fault),
                  "The fault is cleared"
                )
              }
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
      {faults.value.length === 0 ? (
        <p class="empty">
          No faults are set. Add the fault “lose the response” to see whether your till repeats the request with the
          same Idempotency-Key.
        </p>
      ) : (
        <button type="button" onClick={() => void act("DELETE", "/faults", undefined, "All faults are cleared")}>
          Clear all faults
        </button>
      )}
    </section>
  )
}

const Gauge = ({ of }: { of: Limit }) => {
  const left = Date.parse(of.resets_at) - present.value
  const share = Math.min(1, of.used / of.limit)
  const name = of.name.replaceAll("_", " ")
  const level = of.remaining === 0 ? "full" : share > 0.8 ? "high" : ""
  return (
    <li class={`gauge ${level}`}>
      <span class="name">
        {name} <small class="dim">of the {of.per}</small>
      </span>
      <b>
        {of.used} of {of.limit}
      </b>
      <span
        class="bar"
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={of.limit}
        aria-valuenow={of.used}
      >
        <i style={{ width: `${share * 100}%` }} />
      </span>
      <span class="dim">
        {of.used === 0 ? "unused" : `resets in ${roughDuration(Math.max(0, left))}, ${when(of.resets_at)}`}
      </span>
      <span class="row">
        <button
          type="button"
          disabled={of.remaining === 0}
          onClick={() =>
            void act(
              "POST",
              `/shops/${shopId.value}/limits`,
              { name: of.name, use: "up" },
              `The limit ${name} is used up`
            )
          }
        >
          Use up
        </button>
        {of.used > 0 && (
          <button type="button" onClick={() => void moveClock({ to: of.resets_at }, `${name}: reset`)}>
            Go to reset
          </button>
        )}
      </span>
    </li>
  )
}

const Clients = () => (
  <section aria-label="Clients">
    <h3 class="section">Clients</h3>
    <ul class="clients">
      {clients.value.map(({ id, display_name, phone, known, blocked, card }) => (
        <li key={id}>
          <b>{display_name}</b>
          <button type="button" class="link" onClick={() => void copy(phone, phone)}>
            {phone}
          </button>
          <span class="dim">
            {blocked ? "blocks this shop" : known ? "known to this shop" : "unknown to this shop"}
            {card !== null && ` · ${pluralize(card.balance, "stamp")}`}
            {card !== null && card.rewards_available > 0 && ` · ${pluralize(card.rewards_available, "reward")}`}
          </span>
          {!known && !blocked && (
            <button
              type="button"
              onClick={() =>
                void act(
                  "POST",
                  `/clients/${id}/visits`,
                  { shop_id: shopId.value },
                  `${display_name} visited the counter`
                )
              }
            >
              Visit the counter
            </button>
          )}
        </li>
      ))}
    </ul>
    {clients.value.length === 0 && <p class="empty">No client has an account yet.</p>}
  </section>
)

const Till = () => {
  const isShown = useSignal(false)
  return (
    <section aria-label="Your till">
      <h3 class="section">Your till</h3>
      <dl class="facts">
        <dt>Address</dt>
        <dd>
          <code>{location.origin}/v1</code>
        </dd>
        <dt>Key</dt>
        <dd>
          <code>
            {key.value === null
              ? "…"
              : isShown.value
                ? key.value.text
                : `${key.value.text.slice(0, 8)}…${key.value.text.slice(-4)}`}
          </code>{" "}
          <button
            type="button"
            aria-pressed={isShown.value}
            disabled={key.value === null}
            onClick={() => {
              isShown.value = !isShown.value
            }}
          >
            Show
          </button>{" "}
          <button
            type="button"
            disabled={key.value === null}
            onClick={() => void copy(key.value?.text ?? "", "the key")}
          >
            Copy
          </button>
        </dd>
        <dt>Shop</dt>
        <dd>
          {shop.value?.name}, {shop.value?.currency}, {shop.value?.time_zone}
        </dd>
      </dl>
    </section>
  )
}

/** The area of the API: the key of the till, faults, limits and clients. */
export const ApiArea = () => (
  <section class="panel area-api" aria-label="API" tabIndex={-1}>
    <header>
      <h2>API</h2>
    </header>
    <div class="scroll">
      <Till />
      <Faults />
      <h3 class="section">Limits</h3>
      <ul class="gauges">
        {limits.value.map((limit) => (
          <Gauge key={`${limit.name}${limit.key_id}`} of={limit} />
        ))}
      </ul>
      <Clients />
    </div>
  </section>
)
