/** The words of the command line, without `--no-color`, which holds at every level and becomes `NO_COLOR`. */
export const argumentsOf = (argv: ReadonlyArray<string>): Array<string> => {
  const end = argv.indexOf("--")
  const isAsked = (word: string, i: number) => word === "--no-color" && (end === -1 || i < end)
  if (argv.some(isAsked)) process.env.NO_COLOR = "1"
  return argv.filter((word, i) => !isAsked(word, i))
}
