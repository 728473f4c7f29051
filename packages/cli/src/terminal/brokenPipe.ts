/** Ends quietly once nobody reads any more, as in `workshop receive --json | head`. */
export const exitAtBrokenPipe = (): void => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0)
    throw error
  })
}
