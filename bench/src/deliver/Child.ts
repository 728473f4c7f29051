import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** A program of the benchmark in a process of its own: asked by a message, it answers with one. */
export class Child<Ready> {
  readonly #process: ChildProcess
  readonly ready: Ready

  private constructor(process: ChildProcess, ready: Ready) {
    this.#process = process
    this.ready = ready
  }

  /** Starts a program of this folder, and waits until it says that it is ready. */
  static async start<Ready>(name: string, args: ReadonlyArray<string> = []): Promise<Child<Ready>> {
    const process = fork(fileURLToPath(import.meta.resolve(`./${name}.js`)), [...args], { stdio: "inherit" })
    const [ready] = await once(process, "message")
    return new Child(process, ready as Ready)
  }

  /** Sends a question and waits for the answer. */
  async ask<Answer>(question: object): Promise<Answer> {
    const answer = once(this.#process, "message")
    this.#process.send(question)
    return (await answer)[0] as Answer
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    const exit = once(this.#process, "exit")
    this.#process.disconnect()
    await exit
  }
}

/** What a child does: told once that it is ready, it answers each question. */
export const answering = <Question>(ready: object, answer: (question: Question) => Promise<object>): void => {
  process.on("message", (question) => {
    answer(question as Question).then((words) => process.send?.(words))
  })
  process.on("disconnect", () => process.exit(0))
  process.send?.(ready)
}
