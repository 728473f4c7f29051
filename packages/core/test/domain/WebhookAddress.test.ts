import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { anyCharacter } from "../../../../test/anyCharacter.js"
import { isPublicAddress } from "../../src/domain/PublicAddress.js"
import {
  allowsHost,
  parseWebhookAddress,
  productionAddresses,
  reachableAddresses,
  sandboxAddresses
} from "../../src/domain/WebhookAddress.js"

const messages = {
  unreadable: "must be a web address such as https://shop.example.com/hook",
  length: "must be at most 2048 characters",
  space: "must not contain white space or control characters",
  scheme: "must start with https://",
  scheme_or_loopback: "must start with https://, or with http:// if its host is this machine",
  credentials: "must not contain a user name or a password",
  fragment: "must not contain a fragment, which begins with #",
  dot: "must not have a dot at the end of its host name",
  host: "must have a complete host name, such as shop.example.com",
  localhost: "must not have this machine as its host; give a host that can be reached from the internet",
  address:
    "must not have a private or special-purpose IP address; give an address that can be reached from the internet",
  port: "must use port 443"
} as const

const good: ReadonlyArray<readonly [given: string, kept: string]> = [
  ["https://shop.example.com/hook", "https://shop.example.com/hook"],
  ["https://shop.example.com", "https://shop.example.com"],
  ["  https://shop.example.com/hook?a=1&b=%20  ", "https://shop.example.com/hook?a=1&b=%20"],
  ["HTTPS://Shop.Example.COM/Hook", "https://shop.example.com/Hook"],
  ["https://shop.example.com:443/hook", "https://shop.example.com/hook"],
  ["https://shop_1.example.com/hook", "https://shop_1.example.com/hook"],
  ["https://atelier-été.example/hook", "https://xn--atelier-t-i4ab.example/hook"],
  ["https://example.com/a/../b", "https://example.com/b"],
  ["https://example.com/@me", "https://example.com/@me"],
  [`https://example.com/${"a".repeat(2028)}`, `https://example.com/${"a".repeat(2028)}`],
  [`https://${"abc.".repeat(62)}com.x/`, `https://${"abc.".repeat(62)}com.x/`],
  ["https://93.184.216.34/hook", "https://93.184.216.34/hook"],
  ["https://0x5db8d822/hook", "https://93.184.216.34/hook"],
  ["https://[2606:4700:4700::1111]/hook", "https://[2606:4700:4700::1111]/hook"]
]

const bad: ReadonlyArray<
  readonly [reason: Exclude<keyof typeof messages, "unreadable">, texts: ReadonlyArray<string>]
> = [
  ["length", [`https://example.com/${"a".repeat(2029)}`, `https://example.com/${"é".repeat(400)}`, "x".repeat(90_000)]],
  [
    "space",
    ["https://example.com/a b", "https://exam\tple.com/", "https://example.com/\nx", "https://example.com/\u0000"]
  ],
  [
    "scheme",
    ["http://example.com/", "ftp://example.com/", "javascript:alert(1)", "file:///etc/passwd", "ws://example.com"]
  ],
  ["credentials", ["https://user@example.com/", "https://user:pass@example.com/", "https://:pass@example.com/"]],
  ["fragment", ["https://example.com/#top", "https://example.com/hook#"]],
  ["dot", ["https://example.com./", "https://intranet./", "https://localhost./"]],
  [
    "host",
    [
      ...["https://intranet/", "https://com/hook", "https://a..b/", `https://${"a".repeat(64)}.example.com/`],
      ...[`https://example.${"a".repeat(64)}/`, `https://${"abc.".repeat(62)}com.xy/`]
    ]
  ],
  ["localhost", ["https://localhost/", "https://LOCALHOST/hook", "https://shop.localhost/", "https://localhost:8443/"]],
  [
    "port",
    ["https://example.com:80/", "https://example.com:8443/", "https://93.184.216.34:22/", "https://example.com:0/"]
  ]
]

// Spellings of hosts that `URL` parses as an IP address.
const privateHosts = [
  ...[
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1."
  ],
  ...["１２７.０.０.１", "127%2e0%2e0%2e1", "0", "0.0.0.0", "0x0", "10.0.0.1", "10.1", "0xa000001", "172.16.0.1"],
  ...["172.31.255.255", "192.168.0.1", "192.168.257", "0300.0250.0.1", "169.254.169.254", "0xa9fea9fe", "2852039166"],
  ...["100.64.0.1", "192.0.0.1", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1"],
  ...["240.0.0.1", "255.255.255.255", "4294967295", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]"],
  ...["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:8.8.8.8]", "[64:ff9b::a00:1]", "[64:ff9b:1::1]", "[100::1]"],
  ...[
    "[2001::1]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[2001:db8::1]",
    "[2002:7f00:1::]",
    "[3fff::1]",
    "[5f00::1]"
  ],
  ...["[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]"]
]

describe("webhook addresses outside the sandbox (Specification, Webhooks)", () => {
  it.each(good)("%j is stored as %s", (url, stored) =>
    expect(parseWebhookAddress(url, productionAddresses)).toEqual(Either.right(stored))
  )

  it.each(bad)("a URL that can never be connected is refused when it is set: %s", (reason, texts) => {
    for (const text of texts)
      expect([text.slice(0, 60), parseWebhookAddress(text, productionAddresses)]).toEqual([
        text.slice(0, 60),
        Either.left(messages[reason])
      ])
  })

  it.each([
    "",
    "shop",
    "shop.example.com/hook",
    "https://",
    "https:///",
    "https://exa mple.com".replace(" ", "<"),
    "https://1.2.3.256/",
    "https://[::1",
    "https://[fe80::1%25eth0]/",
    "https://example.com:99999/"
  ])("%j is refused, because it is not a web address", (text) =>
    expect(parseWebhookAddress(text, productionAddresses)).toEqual(Either.left(messages.unreadable))
  )

  it.each(privateHosts)("https://%s/ is refused because its host is not a global unicast address", (host) => {
    expect(parseWebhookAddress(`https://${host}/`, productionAddresses)).toEqual(Either.left(messages.address))
  })

  it("other ports are accepted if they are configured, and the refusal names them", () => {
    const policy = { ports: [443, 8443], allowLoopbackHttp: false }
    expect(parseWebhookAddress("https://example.com:8443/", policy)).toEqual(Either.right("https://example.com:8443/"))
    expect(parseWebhookAddress("https://example.com:80/", policy)).toEqual(Either.left("must use port 443 or 8443"))
    expect(parseWebhookAddress("https://example.com/", { ports: [8443], allowLoopbackHttp: false })).toEqual(
      Either.left("must use port 8443")
    )
  })

  it("a stored address is read back unchanged, and no text makes the check throw", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.tuple(fc.domain(), fc.string({ unit: anyCharacter })).map(([host, rest]) => `https://${host}/${rest}`),
          fc.string().map((s) => `https://${s}`)
        ),
        (text) => {
          const first = parseWebhookAddress(text, productionAddresses)
          if (Either.isRight(first)) expect(parseWebhookAddress(first.right, productionAddresses)).toEqual(first)
        }
      )
    )
  })
})

describe("webhook addresses in the sandbox (Specification, Sandbox)", () => {
  it.each([
    "http://localhost:4011/hook",
    "http://localhost/",
    "https://localhost:8443/",
    "http://shop.localhost:9999/",
    "http://127.0.0.1:65535/",
    "http://127.0.0.1:9000",
    "https://127.255.255.254/",
    "http://[::1]:5000/hook"
  ])("%s is accepted, because it is on the tester's own machine", (text) =>
    expect(parseWebhookAddress(text, sandboxAddresses)).toEqual(Either.right(text))
  )

  it.each(good)("%j is stored as outside the sandbox", (url, stored) =>
    expect(parseWebhookAddress(url, sandboxAddresses)).toEqual(Either.right(stored))
  )

  it.each([
    ["http://user@localhost/", messages.credentials],
    ["http://localhost/#a", messages.fragment],
    ["localhost:3000/hook", messages.scheme_or_loopback],
    ["ftp://localhost/", messages.scheme_or_loopback],
    ["http://localhost:0/", messages.unreadable],
    ["http://example.com/", messages.scheme_or_loopback],
    ["http://localhost.example.com/", messages.scheme_or_loopback],
    ["http://127.0.0.1.example.com/", messages.scheme_or_loopback],
    ["http://notlocalhost/", messages.scheme_or_loopback],
    ["http://0.0.0.0:8080/", messages.scheme_or_loopback],
    ["http://10.0.0.1/", messages.scheme_or_loopback],
    ["https://10.0.0.1/", messages.address],
    ["https://0.0.0.0/", messages.address],
    ["https://[::ffff:127.0.0.1]/", messages.address],
    ["https://169.254.169.254/latest", messages.address],
    ["https://localhost./", messages.dot],
    ["https://example.com:8443/", messages.port]
  ])("the sandbox refuses %s: %s", (text, refusal) =>
    expect(parseWebhookAddress(text, sandboxAddresses)).toEqual(Either.left(refusal))
  )
})

describe("Specification, Webhooks: the addresses to which a webhook's URL may lead", () => {
  const PUBLIC = "93.184.216.34"

  it.each([
    ["https://shop.example.com/", sandboxAddresses, [PUBLIC]],
    ["https://shop.example.com/", productionAddresses, [PUBLIC]],
    ["http://localhost:4000/", sandboxAddresses, ["127.0.0.1", "127.8.8.8", "::1"]],
    ["https://127.0.0.1/", sandboxAddresses, ["127.0.0.1", "127.8.8.8", "::1"]]
  ] as const)("of public, private and loopback addresses, %s may lead to one kind only", (url, policy, expected) => {
    const { allows, isLoopback } = reachableAddresses(url, policy, isPublicAddress)
    const addresses = [PUBLIC, "10.0.0.1", "127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "fe80::1"]
    expect(addresses.filter(allows)).toEqual(expected)
    expect(isLoopback).toBe(expected.length > 1)
  })

  it("a host is refused if one of its addresses is, or if it has more than 64", () => {
    const many = (n: number) => Array.from({ length: n }, () => PUBLIC)
    expect(allowsHost([PUBLIC], isPublicAddress)).toBe(true)
    expect(allowsHost([PUBLIC, "10.0.0.1"], isPublicAddress)).toBe(false)
    expect([64, 65].map((n) => allowsHost(many(n), isPublicAddress))).toEqual([true, false])
  })
})
