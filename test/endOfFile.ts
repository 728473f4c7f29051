type Close = () => unknown

const closers: Array<Close> = []

/** Registers a function that runs after the current test file, before the next file of the same worker starts. */
export const atEndOfFile = (close: Close): void => void closers.push(close)

/** Runs all registered functions one after another, the latest first. */
export const endFile = async (): Promise<void> => {
  for (const close of closers.splice(0).reverse()) await close()
}
