/** The URL by which a client on this machine reaches a server. */
export const baseOf = (host: string, port: number): string => {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`
}
