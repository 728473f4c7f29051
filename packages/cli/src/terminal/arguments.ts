/** The words of the command line, without `--no-color`, which holds at every level, whatever the environment says. */
export const argumentsOf = (argv: ReadonlyArray<string>): Array<string> => {
  const end = argv.indexOf("--")
  const isAsked = (word: string, i: number) => word === "--no-color" && (end === -1 || i < end)
  if (argv.some(isAsked)) Object.assign(process.env, { NO_COLOR: "1", FORCE_COLOR: "" })
  return argv.filter((word, i) => !isAsked(word, i))
}
