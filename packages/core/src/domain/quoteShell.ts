/** A text as one word of a shell's command line. */
export const quoteShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
