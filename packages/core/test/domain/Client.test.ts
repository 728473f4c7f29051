import { describe, expect, it } from "vitest"
import {
  type ClientAccount,
  ClientBadge,
  type ClientLink,
  ClientNotFound,
  ClientView,
  clientBadge,
  displayName,
  visibleClient
} from "../../src/domain/Client.js"

const name = (given_name: string, family_name: string, hide_name: boolean) =>
  displayName({ given_name, family_name, hide_name })

describe("Specification, Resources: display_name follows the client's own choice", () => {
  it("a client who shows their name has their full name (Specification, Clients and loyalty)", () => {
    expect(name("Amira", "Ben Salah", false)).toBe("Amira Ben Salah")
  })

  it("a client who hides their name has the given name, the initial of the family name and a full stop (Specification, Clients and loyalty)", () => {
    expect(name("Amira", "Ben Salah", true)).toBe("Amira B.")
    expect(name("Jean-Luc", "d'Arc", true)).toBe("Jean-Luc d.")
  })

  it("an initial is a whole character, even beyond the first 65,536 (Specification, Tickets)", () => {
    expect(name("أميرة", "بن صالح", true)).toBe("أميرة ب.")
    expect(name("Zoé", "Élie", true)).toBe("Zoé É.")
    expect(name("Yuki", "𠮷田", true)).toBe("Yuki 𠮷.")
    expect(name("Amira", "", true)).toBe("Amira .")
  })
})

describe("Specification, Clients and loyalty: the client as a shop may see them", () => {
  const account = {
    id: "c",
    given_name: "Amira",
    family_name: "Ben Salah",
    phone: "+21620123421",
    hide_name: true,
    created_at: 0
  } as unknown as ClientAccount
  const link = (known_at: number | null, blocked_at: number | null) =>
    ({ shop_id: "s", client_id: "c", known_at, blocked_at }) as unknown as ClientLink

  it("a known client is shown with identifier and display name, and nothing else (Specification, Resources)", () => {
    expect(visibleClient(account, link(0, null))).toEqual({ id: "c", display_name: "Amira B." })
    expect(clientBadge(visibleClient(account, link(0, null))!)).toEqual({ id: "c", display_name: "Amira B." })
  })

  it("a shop's view of a client has these fields, and nothing else of the account (Specification, Resources)", () => {
    expect(Object.keys(ClientBadge.fields)).toEqual(["id", "display_name"])
    expect(Object.keys(ClientView.fields)).toEqual(["id", "display_name", "tickets_open", "tickets_total", "loyalty"])
    expect(new ClientNotFound()._tag).toBe("ClientNotFound")
  })

  it("a shop does not see a client who has no account or no link, was never known, or blocks it (Specification, Clients and loyalty)", () => {
    const unseen = [
      visibleClient(undefined, undefined),
      visibleClient(undefined, link(5, null)),
      visibleClient(account, undefined),
      visibleClient(account, link(null, null)),
      visibleClient(account, link(null, 5)),
      visibleClient(account, link(5, 6)),
      visibleClient(account, link(0, 0))
    ]
    expect(unseen).toEqual(unseen.map(() => null))
  })
})
