/** A control character, with what follows where the two could be a colour of ours. */
const CONTROL = /[^\P{Cc}\n\t](?:\[(?:1|22|31|32|33|36|39|90)m)?/gu

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/**
 * Text that a terminal can only show: a server, a file or a shop may have written parts of it, and a control character could
 * rename the window, clear the screen or fill the clipboard. Each is escaped, so JSON stays the same JSON; our own
 * colours remain.
 */
export const legible = (text: string): string =>
  text.replaceAll(CONTROL, (control) =>
    control.length > 1 && control.startsWith("\u001b") ? control : escaped(control) + control.slice(1)
  )
