import { spawnSync } from "node:child_process"
import type { Server } from "./Engine.js"

/** A way in which a server becomes unavailable. */
export interface Absence {
  readonly name: "killed" | "stopped" | "cut off" | "killed after a move"
  /** Precedes the absence by less than a second. */
  readonly prepare?: () => Promise<void>
  /** Makes the server unavailable, and returns how to bring it back. */
  readonly begin: (server: Server) => () => Promise<void>
}

/** All connections of the server end at once, and none is accepted until it is back. */
export const killed: Absence = {
  name: "killed",
  begin: ({ kill, start }) => {
    kill()
    return start
  }
}

/** The server has got a cell, and processes that use it by its earlier server have not noticed yet. */
export const killedAfter = (move: () => Promise<void>): Absence => ({
  ...killed,
  name: "killed after a move",
  prepare: move
})

/** The server's machine accepts connections, and no response comes on them. */
export const stopped: Absence = {
  name: "stopped",
  begin: ({ stop }) => {
    const goOn = stop()
    return async () => goOn()
  }
}

/** Changes the packet filter's rules; false where this machine does not let us. */
const filter = (change: "-I" | "-D", direction: "--dport" | "--sport", port: string): boolean =>
  spawnSync("iptables", ["-w", change, "INPUT", "-i", "lo", "-p", "tcp", direction, port, "-j", "DROP"], {
    stdio: "ignore"
  }).status === 0

/** All packets from and to the server's port disappear silently: connections neither open nor close. */
const cutOff: Absence = {
  name: "cut off",
  begin: ({ url }) => {
    const { port } = new URL(url)
    const connect = () => {
      filter("-D", "--dport", port)
      filter("-D", "--sport", port)
      process.off("exit", connect)
    }
    process.on("exit", connect)
    if (!filter("-I", "--dport", port) || !filter("-I", "--sport", port)) throw new Error("iptables refused a rule")
    return async () => connect()
  }
}

/** The ways that change nothing but the server's own processes. */
export const ofProcesses: ReadonlyArray<Absence> = [killed, stopped]

const UNUSED_PORT = "9"

/** All ways that this machine allows: packets can be filtered by root, where iptables is installed. */
export const everyAbsence = (): ReadonlyArray<Absence> => {
  const canFilter = filter("-I", "--dport", UNUSED_PORT)
  if (canFilter) filter("-D", "--dport", UNUSED_PORT)
  return canFilter ? [...ofProcesses, cutOff] : ofProcesses
}
