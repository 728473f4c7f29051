import { useRef } from "preact/hooks"
import { read, refusalOf, send } from "./api.js"
import { Popover } from "./ClockBar.js"
import { saveFile } from "./files.js"
import { act, say, shops } from "./state.js"

/** Saves all data of the sandbox to a file. */
const save = async (): Promise<void> => {
  const { ok, data, ...answer } = await send("GET", "/sandbox/session")
  if (!ok) return say(`The session could not be saved. ${refusalOf(answer)}`, false)
  saveFile(`session-${String(data.clock?.now ?? "").slice(0, 10)}.json`, JSON.stringify(data), "application/json")
}

/** Asks before all data of the sandbox are replaced, because they cannot be restored. */
const isSure = async (what: string): Promise<boolean> => {
  const { length } = (await read<ReadonlyArray<unknown>>("/shops")) ?? shops.peek()
  const count = `${length} ${length === 1 ? "shop" : "shops"}`
  return confirm(
    `${what}? This deletes everything in this sandbox, for everybody who uses it: ${count} with all tickets.`
  )
}

const begin = async (): Promise<void> => {
  if (await isSure("Reset the sandbox")) await act("POST", "/reset", undefined, "The sandbox was reset")
}

/** Replaces the data of the sandbox with the data of a file. */
const openSession = async (file: File): Promise<void> => {
  const session = await file
    .text()
    .then(JSON.parse)
    .catch(() => null)
  if (!Array.isArray((session?.data ?? session)?.shops))
    return say(`${file.name} is not a session. Choose a file that "Save as a file" created.`, false)
  if (await isSure(`Open ${file.name}`)) await act("POST", "/session", session, `The session of ${file.name} is open`)
}

/** The buttons that reset the sandbox, save it to a file and open it from a file. */
export const Session = () => {
  const field = useRef<HTMLInputElement>(null)
  return (
    <Popover
      label={
        <>
          <span class="wide-text">Session</span>
          <span class="narrow-text">⋯</span>
        </>
      }
      title="Session"
      end
    >
      {(close) => (
        <div class="session">
          <button
            type="button"
            onClick={() => {
              void save()
              close()
            }}
          >
            Save as a file
          </button>
          <label class="button">
            Open a file…
            <input
              ref={field}
              type="file"
              accept="application/json,.json"
              class="unseen"
              onChange={({ currentTarget }) => {
                const [file] = currentTarget.files ?? []
                if (file !== undefined) void openSession(file)
                currentTarget.value = ""
                close()
              }}
            />
          </label>
          <button
            type="button"
            class="record"
            onClick={() => {
              void begin()
              close()
            }}
          >
            Reset the sandbox
          </button>
          <p class="dim">
            A saved file contains shops with their API keys and webhook secrets, tickets, clients with their phone
            numbers, events, attempts, the clock and the request log. Attach it to a bug report. Resetting the sandbox
            or opening a file replaces all data of this sandbox.
          </p>
        </div>
      )}
    </Popover>
  )
}
