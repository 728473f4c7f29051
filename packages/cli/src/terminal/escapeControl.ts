/** A control character, with the characters after it if they may form one of the program's own colours. */
const CONTROL = /[^\P{Cc}\n\t](?:\[(?:1|22|31|32|33|36|39|90)m)?/gu

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/**
 * Escapes control characters, because a server, a file or a shop may have written parts of the text, and a control
 * character can rename the window, clear the screen or fill the clipboard. JSON keeps its value, and the program's own
 * colours remain.
 */
export const escapeControl = (text: string): string =>
  text.replaceAll(CONTROL, (control) =>
    control.length > 1 && control.startsWith("\u001b") ? control : escapeCharacter(control) + control.slice(1)
  )
