import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** The next message of a process. Rejects if the process ends before it sends one. */
const messageOf = (process: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`A program of the benchmark ended with status ${code}`))
    process.once("exit", ended)
    process.once("message", (message) => {
      process.off("exit", ended)
      resolve(message)
    })
  })

/** A program of the benchmark in its own process, which replies to each message with one message. */
export class Child<Ready> {
  readonly #process: ChildProcess
  readonly ready: Ready

  private constructor(process: ChildProcess, ready: Ready) {
    this.#process = process
    this.ready = ready
  }

  /** Starts a program of this folder, and waits until it reports that it is ready. */
  static async start<Ready>(name: string, args: ReadonlyArray<string> = []): Promise<Child<Ready>> {
    const process = fork(fileURLToPath(import.meta.resolve(`./${name}.js`)), [...args], { stdio: "inherit" })
    return new Child(process, (await messageOf(process)) as Ready)
  }

  /** Sends a question to the child, and waits for its reply. */
  async ask<Answer>(question: object): Promise<Answer> {
    const response = messageOf(this.#process)
    this.#process.send(question)
    return (await response) as Answer
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    const exit = once(this.#process, "exit")
    this.#process.disconnect()
    await exit
  }
}

/** Runs a child process: it reports once that it is ready, and then replies to each question of its parent. */
export const answerParent = <Question>(ready: object, answer: (question: Question) => Promise<object>): void => {
  process.on("message", (question) => {
    answer(question as Question).then((words) => process.send?.(words))
  })
  process.on("disconnect", () => process.exit(0))
  process.send?.(ready)
}
