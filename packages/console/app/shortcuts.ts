import { advance, freeze, goTo, nextDue } from "./ClockBar.js"
import { recordAct, stopRecording } from "./recorder.js"
import { type Area, isRecording, open, show, ticketId, tickets } from "./state.js"
import { setStatus } from "./TicketArea.js"
import { newTicketField } from "./Tickets.js"

const walk = (by: number) => () => {
  const all = tickets.peek()
  const i = all.findIndex(({ id }) => id === ticketId.peek())
  const next = all[i < 0 ? 0 : Math.min(all.length - 1, Math.max(0, i + by))]
  if (next !== undefined) open(next.id)
}

const toDue = (beside_ms: number) => () => {
  const due = nextDue()
  if (due !== undefined) void goTo(due, beside_ms)
}

/** Shows an area and moves the focus into it, so that Tab continues there. */
const go = (area: Area) => () => {
  show(area)
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`.area-${area}`)?.focus())
}

/** The shortcuts of the page, each with its description. */
export const shortcuts: ReadonlyArray<readonly [keys: string, meaning: string, run: () => void]> = [
  ["j", "next ticket", walk(1)],
  ["k", "previous ticket", walk(-1)],
  [
    "n",
    "new ticket",
    () => {
      show("tickets")
      newTicketField.current?.closest("details")?.setAttribute("open", "")
      newTicketField.current?.focus()
    }
  ],
  ["r", "ready", () => void setStatus("ready")],
  ["c", "collected", () => void setStatus("collected")],
  ["w", "back to workshop", () => void setStatus("workshop")],
  ["i", "impossible", () => void setStatus("impossible")],
  [".", "move the clock to the next scheduled event (including resets of limits if the agenda shows them)", toDue(0)],
  [",", "move the clock to 1 ms before the next scheduled event", toDue(-1)],
  ["+", "move the clock one hour forward", () => void advance("1h")],
  ["f", "freeze the clock, or let it run", () => void freeze()],
  [
    "/",
    "search",
    () => {
      show("tickets")
      document.getElementById("search")?.focus()
    }
  ],
  ["g t", "tickets", go("tickets")],
  ["g k", "ticket", go("ticket")],
  ["g l", "live", go("live")],
  ["g w", "webhook", go("webhook")],
  ["g a", "API: faults and limits", go("api")],
  ["g r", "record", go("record")],
  [
    "R",
    "start or stop a recording",
    () => {
      show("record")
      void (isRecording.peek() ? stopRecording() : recordAct())
    }
  ]
]

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Listens for the shortcuts until the returned function is called. */
export const listenForShortcuts = (help: () => void): (() => void) => {
  let prefix = ""
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === "Escape" && event.target instanceof HTMLElement && isTyping(event.target)) event.target.blur()
    const isChecked = event.target instanceof HTMLInputElement && event.target.type === "checkbox"
    if (isTyping(event.target) && !isChecked) return
    if (event.key === "?") return help()
    if (event.key === "g" && prefix === "") {
      prefix = "g "
      return
    }
    const shortcut = shortcuts.find(([keys]) => keys === prefix + event.key)
    prefix = ""
    if (shortcut === undefined) return
    event.preventDefault()
    shortcut[2]()
  }
  document.addEventListener("keydown", pressed)
  return () => document.removeEventListener("keydown", pressed)
}
