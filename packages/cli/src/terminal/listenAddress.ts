import type { CannotListen } from "@workshop/http-node"
import { type CommandRefused, refuse } from "../CommandRefused.js"

const NO_ADDRESS = "is not an address of this machine. Choose one with --host, such as 127.0.0.1"

const advice: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "is already in use. Stop the program that listens there, or choose another port with --port (0 selects a free one)",
  EACCES: "requires more permissions. Choose a port above 1023 with --port",
  EADDRNOTAVAIL: NO_ADDRESS,
  ENOTFOUND: NO_ADDRESS,
  EAI_AGAIN: NO_ADDRESS
}

/** The message that says why the process cannot listen on an address, and what to do. */
export const cannotListen = ({ host, port, code, message }: CannotListen): CommandRefused => {
  const what = advice[code ?? ""]
  return refuse(what === undefined ? `${message}.` : `${host} port ${port} ${what}.`)
}

/** True for an address that means all addresses of this machine. */
export const isEverywhere = (host: string): boolean => host === "0.0.0.0" || host === "::"
