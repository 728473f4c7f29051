import { spawnSync } from "node:child_process"
import type { Server } from "./Engine.js"

/** A way in which a server becomes unavailable. */
export interface Absence {
  readonly name: "killed" | "stopped" | "cut off" | "killed after a move"
  /** Runs less than a second before the absence begins. */
  readonly prepare?: () => Promise<void>
  /** Makes the server unavailable, and returns a function that makes it available again. */
  readonly begin: (server: Server) => () => Promise<void>
}

/** The server is killed: all its connections end, and it accepts none until it is started again. */
export const killed: Absence = {
  name: "killed",
  begin: ({ kill, start }) => {
    kill()
    return start
  }
}

/**
 * The server is killed directly after a cell was moved to it, when other processes still use the cell's earlier server.
 */
export const killedAfter = (move: () => Promise<void>): Absence => ({
  ...killed,
  name: "killed after a move",
  prepare: move
})

/** The server's processes are suspended: the machine accepts connections, but nothing responds. */
export const stopped: Absence = {
  name: "stopped",
  begin: ({ stop }) => {
    const goOn = stop()
    return async () => goOn()
  }
}

/** Changes a rule of the packet filter; false if this machine does not permit it. */
const filter = (change: "-I" | "-D", direction: "--dport" | "--sport", port: string): boolean =>
  spawnSync("iptables", ["-w", change, "INPUT", "-i", "lo", "-p", "tcp", direction, port, "-j", "DROP"], {
    stdio: "ignore"
  }).status === 0

/** The packet filter drops all packets from and to the server's port, so connections neither open nor close. */
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

/** The absences that affect only the server's own processes. */
export const ofProcesses: ReadonlyArray<Absence> = [killed, stopped]

const UNUSED_PORT = "9"

/** All absences that this machine allows. Filtering packets needs root and iptables. */
export const everyAbsence = (): ReadonlyArray<Absence> => {
  const canFilter = filter("-I", "--dport", UNUSED_PORT)
  if (canFilter) filter("-D", "--dport", UNUSED_PORT)
  return canFilter ? [...ofProcesses, cutOff] : ofProcesses
}
