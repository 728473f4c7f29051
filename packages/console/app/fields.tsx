import type { Signal } from "@preact/signals"
import type { ComponentChildren } from "preact"

/** A checkbox that shows a signal and changes it. The children are its label. */
export const Checkbox = ({
  of,
  class: name,
  children
}: {
  of: Signal<boolean>
  class?: string
  children: ComponentChildren
}) => (
  <label class={name}>
    <input
      type="checkbox"
      checked={of.value}
      onChange={({ currentTarget }) => {
        of.value = currentTarget.checked
      }}
    />{" "}
    {children}
  </label>
)

/** Stores the text of a field in a signal: `onInput={typedInto(title)}`. */
export const typedInto =
  (signal: Signal<string>) =>
  ({ currentTarget }: { currentTarget: HTMLInputElement }): void => {
    signal.value = currentTarget.value
  }
