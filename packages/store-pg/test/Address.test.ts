import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { afterAll, describe, expect, it } from "vitest"
import { parseAddress } from "../src/connection/Address.js"

const folder = mkdtempSync(join(tmpdir(), "workshop-address-"))
const CA = join(folder, "ca.pem")
writeFileSync(CA, "the authority")
afterAll(() => rmSync(folder, { recursive: true }))

/** The connection settings that an address yields, one per server. */
const read = (url: string) =>
  parseAddress(url).servers.map((config) => {
    const { host, port, user, password, database, ssl } = new pg.Client(config)
    return { host, port, user, password, database, ssl }
  })

const me = { user: "me", password: "p@ss", database: "x", ssl: false }

describe("the address of a database", () => {
  it.each<[string, ReadonlyArray<object>]>([
    ["postgres://me:p%40ss@db/x", [{ ...me, host: "db", port: 5432 }]],
    ["postgresql://me:p%40ss@[::1]:7/x", [{ ...me, host: "::1", port: 7 }]],
    [
      "postgres://me:p%40ss@a,b:6432/x",
      [
        { ...me, host: "a", port: 5432 },
        { ...me, host: "b", port: 6432 }
      ]
    ],
    [
      "postgres://me:p%40ss@/x?host=a,b&port=1,2",
      [
        { ...me, host: "a", port: 1 },
        { ...me, host: "b", port: 2 }
      ]
    ],
    ["postgres://me:p%40ss@/x?host=/run/postgresql", [{ ...me, host: "/run/postgresql", port: 5432 }]]
  ])("the servers of %s are parsed in the order of the address", (url, servers) => expect(read(url)).toEqual(servers))

  it("a store with several servers in its address connects to one that accepts writes, unless target_session_attrs allows any", () => {
    const writes = (url: string) => parseAddress(url).requiresWritable
    expect(writes("postgres://a/x")).toBe(false)
    expect(writes("postgres://a,b/x")).toBe(true)
    expect(writes("postgres://a,b/x?target_session_attrs=any")).toBe(false)
    expect(writes("postgres://a/x?target_session_attrs=primary")).toBe(true)
  })

  it("the sslmode of an address decides whether a connection is encrypted and whether the server's certificate is verified", () => {
    const tls = (query: string, host = "db") =>
      read(`postgres://me@${host}/x?${query}`)[0]!.ssl as never as Record<string, unknown>
    expect(tls("sslmode=disable")).toBe(false)
    expect(tls("sslmode=require")).toMatchObject({ rejectUnauthorized: false })
    expect(tls(`sslmode=require&sslrootcert=${CA}`)).toMatchObject({ rejectUnauthorized: true, ca: "the authority" })
    const ofAuthority = tls(`sslmode=verify-ca&sslrootcert=${CA}`)
    expect(ofAuthority).toMatchObject({
      rejectUnauthorized: true,
      ca: "the authority",
      checkServerIdentity: expect.any(Function)
    })
    const named = tls(`sslmode=verify-full&sslrootcert=${CA}`)
    expect(named).toEqual({ rejectUnauthorized: true, ca: "the authority" })
    expect(tls("sslmode=verify-full", "127.0.0.1")).toEqual({ rejectUnauthorized: true, host: "127.0.0.1" })
  })

  it.each([
    [
      "postgres://a/x?sslmode=prefer",
      "The database address has sslmode=prefer, but sslmode must be one of disable, require, no-verify, verify-ca, verify-full. Check the store's url."
    ],
    [
      "postgres://a/x?sslmode=verify-ca",
      "The database address has sslmode=verify-ca without sslrootcert. Add sslrootcert with the path of the trusted authority's certificate. Check the store's url."
    ],
    [
      "postgres://a,b/x?target_session_attrs=standby",
      "The database address has target_session_attrs=standby, but the service needs a server that accepts writes. Use read-write, primary or any. Check the store's url."
    ]
  ])("the address %s is refused with a message that names the error and the remedy", (url, sentence) =>
    expect(() => parseAddress(url)).toThrow(sentence)
  )

  it("an address with an unreadable certificate file is refused with a message that names the file", () =>
    expect(() => parseAddress("postgres://a/x?sslmode=verify-full&sslrootcert=/nowhere/ca.pem")).toThrow(
      /^The file that sslrootcert in the database address names cannot be read \(ENOENT.*. Check the store's url\.$/
    ))
})
