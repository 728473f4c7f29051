import { useSignal } from "@preact/signals"
import { freeze } from "./ClockBar.js"
import { Checkbox, typedInto } from "./fields.js"
import { saveFile } from "./files.js"
import { copy } from "./Live.js"
import { assertable } from "./record.js"
import type { Step } from "./recordedActs.js"
import {
  acts,
  assert,
  astray,
  beginning,
  dropStep,
  endReason,
  expectReceived,
  isInNewShop,
  isTillRecorded,
  problems,
  type Ran,
  recordAct,
  recording,
  runRecording,
  stopRecording,
  title
} from "./recorder.js"
import { clock, isRecording, key, shopId } from "./state.js"

const Start = () => (
  <div class="record-start">
    <p>
      A recording turns what you do here, and what your till sends, into a <b>scenario</b>, a test file that runs in
      your CI with <code>npx workshop scenario run</code>.
    </p>
    <label class="inline">
      Name
      <input value={title.value} onInput={typedInto(title)} />
    </label>
    <Checkbox of={isTillRecorded}>record my till too</Checkbox>
    <Checkbox of={isInNewShop}>in a new shop like this one, so that earlier data have no effect</Checkbox>
    <button type="button" class="record" onClick={() => void recordAct()}>
      ● Start recording
    </button>
    {clock.value.frozen_by !== null && (
      <p class="banner">
        <span>The clock is frozen by {clock.value.frozen_by}, in another console or in one that was closed.</span>
        <button type="button" onClick={() => void freeze()}>
          Unfreeze the clock
        </button>
      </p>
    )}
    {isInNewShop.value && isTillRecorded.value && (
      <p class="dim">Then give your till the new shop’s key, which appears here.</p>
    )}
  </div>
)

/** Shows the key that the till must use until its first request is recorded. */
const KeyOfTill = () => {
  const isHeard = acts.value.some(({ from }) => from === "till")
  if (isHeard || !isRecording.value || !isTillRecorded.value || beginning.value?.shop.id !== shopId.value) return null
  return (
    <p class={astray.value === null ? "banner" : "banner bad"} role={astray.value === null ? undefined : "alert"}>
      <span>
        {astray.value !== null && <b>Your till used the key of {astray.value}, so its request was not recorded. </b>}
        Give your till this shop’s key: <code>{key.value?.text ?? "…"}</code>
      </span>
      <button type="button" disabled={key.value === null} onClick={() => void copy(key.value?.text ?? "", "the key")}>
        Copy the key
      </button>
    </p>
  )
}

const StepView = ({ step: { act, lines, problem } }: { step: Step }) => {
  const isAnswer = /^\/v1\/|^\/sandbox\/tickets\//.test(act.path)
  const fields =
    isAnswer && act.status < 300 && act.fault !== "lose_answer" && problem === null
      ? assertable(act.response?.data)
      : []
  return (
    <li class={problem === null ? "" : "unfaithful"}>
      <div class="step-line">
        {problem === null ? (
          <pre>{lines.map((line) => line.slice(2)).join("\n") || `# ${act.method} ${act.path}`}</pre>
        ) : (
          <p>
            <b>
              ✗ {act.method} {act.path.replace(/^\/(sandbox|v1)/, "")}
            </b>{" "}
            cannot be recorded: {problem}.
          </p>
        )}
        <span class="dim">{act.from === "till" ? "till" : ""}</span>
        <button
          type="button"
          class="link"
          aria-label="Remove this step"
          title="Remove this step"
          onClick={() => dropStep(act)}
        >
          ✕
        </button>
      </div>
      {fields.length > 0 && (
        <details>
          <summary class="dim">expect a field…</summary>
          <div class="chips">
            {fields.map(([path, value]) => (
              <button
                type="button"
                key={path}
                aria-pressed={path in act.asserted}
                onClick={() => assert(act, path, value)}
              >
                {path}: {JSON.stringify(value)}
              </button>
            ))}
          </div>
        </details>
      )}
    </li>
  )
}

const fileName = (): string =>
  `${
    title.value
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "") || "recorded"
  }.yaml`

const Result = ({ of }: { of: Ran }) => (
  <section class={of.passed === null ? "ran" : of.passed ? "ran good" : "ran bad"} aria-label="Result of the run">
    <b>{of.passed === null ? "Not run" : of.passed ? "✓ The scenario passed" : "✗ The scenario failed"}</b>
    <ul>
      {of.lines.map(({ text, ok }, i) => (
        <li key={`${i}${text}`} class={ok === null ? "dim" : ok ? "good" : "bad"}>
          {ok === null ? "– " : ok ? "✓ " : "✗ "}
          {text}
        </li>
      ))}
    </ul>
  </section>
)

const Tools = ({ text, ran }: { text: string; ran: (result: Ran | null) => void }) => (
  <div class="row tools">
    {isRecording.value && (
      <button type="button" class="record on" onClick={() => void stopRecording()}>
        ■ Stop recording
      </button>
    )}
    {isRecording.value && (
      <button type="button" onClick={() => void expectReceived()}>
        Expect what was received
      </button>
    )}
    <button
      type="button"
      class="primary"
      disabled={acts.value.length === 0}
      onClick={() => void runRecording().then(ran)}
    >
      Run the scenario
    </button>
    <button
      type="button"
      disabled={acts.value.length === 0}
      onClick={() => saveFile(fileName(), text, "application/yaml")}
    >
      Save
    </button>
    <button type="button" disabled={acts.value.length === 0} onClick={() => void copy(text, fileName())}>
      Copy
    </button>
  </div>
)

/** The recorder, which turns acts into a scenario. */
export const RecordArea = () => {
  const ran = useSignal<Ran | null>(null)
  const current = recording.value
  return (
    <section class="panel area-record" aria-label="Recording" tabIndex={-1}>
      <header>
        <h2>Recording</h2>
        {isRecording.value && (
          <span class="recording" role="status">
            ● {acts.value.length} {acts.value.length === 1 ? "action" : "actions"}
          </span>
        )}
      </header>
      <div class="scroll">
        {endReason.value !== null && (
          <p class="banner bad" role="alert">
            The recording ended, because {endReason.value}. The steps that were recorded until then are below.
          </p>
        )}
        {!isRecording.value && <Start />}
        {current !== null && (
          <>
            <Tools
              text={current.text}
              ran={(result) => {
                ran.value = result
              }}
            />
            {problems.value.length > 0 && (
              <p class="banner bad">
                {problems.value.length === 1
                  ? "1 action is not in the file. The reason is below."
                  : `${problems.value.length} actions are not in the file. The reasons are below.`}
              </p>
            )}
            {ran.value !== null && <Result of={ran.value} />}
            <KeyOfTill />
            {acts.value.length === 0 && (
              <p class="empty">
                Nothing is recorded yet. Create a ticket, move the clock, or send a request from your till.
              </p>
            )}
            <ol class="steps-recorded">
              {current.steps.map((step, i) => (
                <StepView key={i} step={step} />
              ))}
            </ol>
            <details class="fields">
              <summary>The whole file</summary>
              <pre data-scenario>{current.text}</pre>
            </details>
          </>
        )}
      </div>
    </section>
  )
}
