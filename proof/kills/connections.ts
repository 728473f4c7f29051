import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** The inodes of the sockets that a process has open. */
const socketsOf = (pid: number): ReadonlySet<string> => {
  const folder = `/proc/${pid}/fd`
  const sockets = new Set<string>()
  for (const name of readdirSync(folder)) {
    try {
      const [, socket] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`)) ?? []
      if (socket !== undefined) sockets.add(socket)
    } catch {
      // The socket was closed meanwhile.
    }
  }
  return sockets
}

/** The number of TCP connections of a process to a port, including those that are still being opened. */
export const connectionsTo = (pid: number, port: number): number => {
  const sockets = socketsOf(pid)
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  return readFileSync(`/proc/${pid}/net/tcp`, "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , to = "", , , , , , , socket = ""]) => to.endsWith(remote) && sockets.has(socket)).length
}
