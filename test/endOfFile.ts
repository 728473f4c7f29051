type Close = () => unknown

const closers: Array<Close> = []

/** Closes something once the running test file has ended, before the files that share its worker begin. */
export const atEndOfFile = (close: Close): void => void closers.push(close)

/** Closes it all, the latest first, and waits until it is closed. */
export const endFile = async (): Promise<void> => {
  for (const close of closers.splice(0).reverse()) await close()
}
