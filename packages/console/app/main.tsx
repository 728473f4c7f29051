import { useSignal } from "@preact/signals"
import { render } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { ApiArea } from "./ApiArea.js"
import { giveToken, isGone, isTokenNeeded, isTokenWrong } from "./api.js"
import { ClockBar, Popover } from "./ClockBar.js"
import { startFeed } from "./feed.js"
import { Live } from "./Live.js"
import type { Shop } from "./model.js"
import { RecordArea } from "./RecordArea.js"
import { plainName } from "./record.js"
import { resume } from "./recorder.js"
import { Session } from "./Session.js"
import { listenForShortcuts, shortcuts } from "./shortcuts.js"
import {
  type Area,
  act,
  area,
  choose,
  faults,
  isBoard,
  isRecording,
  loadShops,
  notice,
  shop,
  shopId,
  shops,
  show,
  side,
  webhook
} from "./state.js"
import { TicketArea } from "./TicketArea.js"
import { Tickets } from "./Tickets.js"
import { WebhookArea } from "./WebhookArea.js"

const NewShop = ({ close }: { close: () => void }) => {
  const form = useRef<HTMLFormElement>(null)
  return (
    <form
      ref={form}
      class="ask"
      aria-label="New shop"
      onSubmit={async (event) => {
        event.preventDefault()
        const { decimals, ...rest } = Object.fromEntries(new FormData(form.current!))
        const { ok, data } = await act(
          "POST",
          "/shops",
          { ...rest, decimals: Number(decimals) },
          `The shop ${rest.name} was created`
        )
        if (!ok) return
        close()
        await loadShops()
        await choose(data.shop.id)
      }}
    >
      <label>
        Name
        <input name="name" required defaultValue="Second workshop" />
      </label>
      <label>
        Currency
        <input name="currency" required defaultValue={shop.value?.currency ?? "EUR"} />
      </label>
      <label>
        Decimals
        <input name="decimals" required inputMode="numeric" defaultValue={String(shop.value?.decimals ?? 2)} />
      </label>
      <label>
        Time zone
        <input name="time_zone" required defaultValue={shop.value?.time_zone ?? "Europe/Paris"} />
      </label>
      <button type="submit" class="primary">
        Open it
      </button>
    </form>
  )
}

/** Closes the shop of a recording: it is removed from the list, and its keys stop working. */
const CloseShop = ({ close }: { close: () => void }) => (
  <button
    type="button"
    class="close-shop"
    onClick={async () => {
      const { id, name } = shop.value!
      const { ok } = await act("PATCH", `/shops/${id}`, { active: false }, `The shop ${name} was closed`)
      if (!ok) return
      close()
      shopId.value = null
      await loadShops()
    }}
  >
    Close the shop of this recording
  </button>
)

/** The shops in groups: shops that recordings opened and closed shops are separate from the others. */
const shopGroups = () => {
  const isRecorded = ({ name }: Shop) => name !== plainName(name)
  const others = shops.value.filter((one) => !isRecorded(one))
  return (
    [
      ["Shops", others.filter(({ active }) => active)],
      ["Recordings", shops.value.filter(isRecorded).toReversed()],
      ["Closed", others.filter(({ active }) => !active).toReversed()]
    ] as const
  ).filter(([, group]) => group.length > 0)
}

const ShopPicker = () => (
  <div class="shop">
    <select
      aria-label="Shop"
      title={shop.value?.name ?? ""}
      value={shopId.value ?? ""}
      onFocus={() => void loadShops()}
      onChange={({ currentTarget }) => void choose(currentTarget.value)}
    >
      {shopGroups().map(([label, group]) => (
        <optgroup key={label} label={label}>
          {group.map(({ id, name }) => (
            <option key={id} value={id}>
              {label === "Recordings" ? name.replace(/^(.*), (recording \d+)$/, "$2 of $1") : name}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
    <Popover label="+" title="New shop">
      {(close) => (
        <>
          <NewShop close={close} />
          {shop.value !== null && plainName(shop.value.name) !== shop.value.name && <CloseShop close={close} />}
        </>
      )}
    </Popover>
  </div>
)

const areas: ReadonlyArray<readonly [Area, string, string]> = [
  ["tickets", "Tickets", "☰"],
  ["ticket", "Ticket", "◷"],
  ["live", "Live", "⇅"],
  ["webhook", "Webhook", "⌁"],
  ["api", "API", "⚙"],
  ["record", "Record", "●"]
]

/** Whether an area shows a warning. */
const isWarning = (name: Area): boolean =>
  (name === "webhook" && webhook.value?.url != null && !webhook.value.on) ||
  (name === "api" && faults.value.length > 0) ||
  (name === "record" && isRecording.value)

const Tabs = ({ of, current, label }: { of: typeof areas; current: Area; label: string }) => (
  <nav class="tabs" aria-label={label}>
    {of.map(([name, text, sign]) => (
      <button type="button" key={name} aria-current={current === name} onClick={() => show(name)}>
        <span class="sign" aria-hidden="true">
          {sign}
        </span>
        {text}
        {isWarning(name) && <i class="alert" role="img" aria-label="look here" />}
      </button>
    ))}
  </nav>
)

const Help = ({ close }: { close: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} onClose={close} aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {[...shortcuts, ["?", "these keys", close] as const].map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="primary">
          Close
        </button>
      </form>
    </dialog>
  )
}

const TokenForm = () => {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <main class="token">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault()
          giveToken(field.current?.value.trim() ?? "")
          void startFeed().then(resume)
        }}
      >
        <h1>This sandbox requires a token</h1>
        <p>
          Enter the token with which the server was started: <code>--sandbox-token</code> or{" "}
          <code>WORKSHOP_SANDBOX_TOKEN</code>. The page keeps it until you close the tab.
        </p>
        {isTokenWrong.value && (
          <p class="bad" role="alert">
            ✗ The sandbox refused this token. Check the token, and enter it again.
          </p>
        )}
        <label>
          Token
          <input ref={field} type="password" autocomplete="off" required />
        </label>
        <button type="submit" class="primary">
          Open the console
        </button>
      </form>
    </main>
  )
}

/**
 * How long a notice is shown, in milliseconds. A notice of a failure is shown longer, because it takes longer to read.
 */
const NOTICE_MS = { good: 5000, bad: 12_000 }

const Notice = () => {
  const said = notice.value
  useEffect(() => {
    if (said === null) return
    const timer = setTimeout(
      () => {
        if (notice.peek()?.n === said.n) notice.value = null
      },
      NOTICE_MS[said.ok ? "good" : "bad"]
    )
    return () => clearTimeout(timer)
  }, [said])
  return (
    <output class={said === null ? "said" : `said shown ${said.ok ? "good" : "bad"}`}>
      {said !== null && (
        <>
          <span aria-hidden="true">{said.ok ? "✓ " : "✗ "}</span>
          {said.text}
        </>
      )}
    </output>
  )
}

const sides = { live: Live, webhook: WebhookArea, api: ApiArea, record: RecordArea }

const Console = () => {
  const isHelping = useSignal(false)
  useEffect(
    () =>
      listenForShortcuts(() => {
        isHelping.value = true
      }),
    []
  )
  if (isTokenNeeded.value) return <TokenForm />
  const Side = sides[side.value]
  return (
    <div class="console" data-area={area.value} data-board={isBoard.value}>
      <header class="top">
        <h1>Workshop</h1>
        <ShopPicker />
        <ClockBar />
        <Session />
        <button type="button" class="help" aria-label="Keys" title="Keys (?)" onClick={() => (isHelping.value = true)}>
          ?
        </button>
      </header>
      {isGone.value && (
        <p class="gone" role="alert">
          The server does not respond. The page shows the data that it last read, and keeps trying.
        </p>
      )}
      <main>
        <Tickets />
        <TicketArea />
        <div class="side">
          <Tabs of={areas.slice(2)} current={side.value} label="Beside the ticket" />
          <Side />
        </div>
      </main>
      <Tabs of={areas} current={area.value} label="Areas" />
      <Notice />
      {isHelping.value && <Help close={() => (isHelping.value = false)} />}
    </div>
  )
}

render(<Console />, document.getElementById("console")!)
void startFeed().then(resume)
