import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Page } from "@workshop/core/adapter"
import type { RouteGroup } from "@workshop/core/http"
import { Effect } from "effect"
import { onceAsked } from "./coalesce.js"
import { type ConstantBody, constantBody, constantPage, guarded, pageGroup } from "./page.js"

/** The page. Its addresses are relative, so that it also works behind a proxy that adds a path. */
const docsHtml = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Workshop Ticket Service</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="docs/docs.css" />
  </head>
  <body>
    <noscript>This page needs JavaScript; <a href="openapi.json">openapi.json</a> says the same.</noscript>
    <header>
      <h1>Workshop tickets</h1>
      <nav aria-label="Documents"><button type="button" aria-pressed="true" data-document="openapi.json">API</button></nav>
      <button type="button" class="calls" aria-expanded="false">Calls</button>
    </header>
    <form hidden aria-label="Token of the sandbox">
      <label for="token">The sandbox asks for the token that it was started with.</label>
      <input id="token" type="password" autocomplete="off" required />
      <button type="submit">Open</button>
      <output></output>
    </form>
    <rapi-doc
      id="docs"
      hidden
      render-style="read"
      show-header="false"
      allow-spec-url-load="false"
      allow-spec-file-load="false"
      allow-server-selection="false"
      allow-search="true"
      show-method-in-nav-bar="as-colored-text"
      use-path-in-nav-bar="false"
      load-fonts="false"
      regular-font="system-ui, sans-serif"
      mono-font="ui-monospace, monospace"
      schema-style="table"
      update-route="true"
      persist-auth="false"
    ></rapi-doc>
    <script src="docs/rapidoc-min.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`

const docsStyle = `
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; background: light-dark(#fff, #14181e); color: light-dark(#14181f, #e8ebf0);
  font: 15px/1.4 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 18px; padding: 8px 16px; border-bottom: 1px solid light-dark(#dde1e7, #2a313b); }
h1 { font-size: 16px; margin: 0; }
nav { display: flex; gap: 6px; }
.calls { margin-left: auto; }
form { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; padding: 10px 16px; }
form[hidden], header .calls { display: none; }
input { font: inherit; color: inherit; background: none; min-height: 34px; padding: 4px 10px; box-sizing: border-box;
  border: 1px solid light-dark(#8b94a3, #626d7e); border-radius: 8px; }
header a, header button, form button { font: inherit; min-height: 34px; padding: 4px 14px; border: 1px solid light-dark(#8b94a3, #626d7e); border-radius: 17px;
  background: none; color: inherit; text-decoration: none; cursor: pointer; box-sizing: border-box;
  display: inline-flex; align-items: center; }
header button[aria-pressed="true"], header button[aria-expanded="true"] { background: light-dark(#1f4fd8, #8fb0ff); border-color: transparent; color: light-dark(#fff, #0b1530); }
:focus-visible { outline: 2px solid light-dark(#1f4fd8, #8fb0ff); outline-offset: 2px; }
rapi-doc { flex: 1; min-height: 0; width: 100%; position: relative; }
rapi-doc[hidden] { display: none; }
@media (max-width: 767px) { header .calls { display: inline-flex; } rapi-doc::part(wrap-request-btn) { flex-wrap: wrap; gap: 8px 0; } }
@media (max-width: 600px) { rapi-doc::part(section-overview), rapi-doc::part(section-auth), rapi-doc::part(section-tag),
  rapi-doc::part(section-operation) { padding-left: 16px; padding-right: 16px; } header a, header button, form button { min-height: 44px; border-radius: 22px; } }
`

/** The style that mends the reader: its words break, its tables are wider than a phone, and its list of calls is hidden there. */
const readerStyle = `
#api-info { margin-left: 0 !important; }
#link-operations-top { display: none; }
.blue-text { color: var(--primary-color); }
.nav-bar-path span span { flex: none; white-space: nowrap; }
.m-markdown table { display: block; max-width: 100%; overflow-x: auto; }
@media (max-width: 767px) {
  :host([data-calls]) .nav-bar { display: flex; position: absolute; inset: 0; width: 100%; z-index: 3; }
  :host([data-calls]) .nav-bar-path, :host([data-calls]) .nav-bar-tag { padding-top: 10px; padding-bottom: 10px; }
  #api-title { padding-top: 20px; }
}`

/**
 * Starts the reader on the documents of this very server: calls go to where the page came from. The key is kept for the tab
 * alone, and the sandbox's document is offered where the server has one.
 */
const docsScript = `const here = new URL(".", location.href)
const reader = document.getElementById("docs")
const nav = document.querySelector("nav")
const form = document.querySelector("form")
const calls = document.querySelector(".calls")
const KEY = "workshop-docs-authorization"
// Where the console keeps it, for the tab alone.
const TOKEN = "workshop-sandbox-token"
const dark = matchMedia("(prefers-color-scheme: dark)")

const dress = () => {
  reader.setAttribute("theme", dark.matches ? "dark" : "light")
  reader.setAttribute("bg-color", dark.matches ? "#14181e" : "#ffffff")
  reader.setAttribute("text-color", dark.matches ? "#e8ebf0" : "#14181f")
  reader.setAttribute("nav-bg-color", dark.matches ? "#1b2028" : "#f6f7f9")
  reader.setAttribute("nav-text-color", dark.matches ? "#c9d0da" : "#3b4452")
  reader.setAttribute("primary-color", dark.matches ? "#8fb0ff" : "#1f4fd8")
}
dress()
dark.addEventListener("change", dress)

const styles = new CSSStyleSheet()
styles.replaceSync(${JSON.stringify(readerStyle)})

const schemes = (spec) => Object.keys(spec.components?.securitySchemes ?? {})
const load = (name, token) =>
  fetch(new URL(name, here), token === null ? {} : { headers: { Authorization: "Bearer " + token } })
const show = async (name) => {
  const token = name === "openapi.json" ? null : sessionStorage.getItem(TOKEN)
  const response = await load(name, token)
  form.hidden = response.ok
  form.querySelector("output").textContent = token === null ? "" : "The sandbox refused this token."
  if (!response.ok) return form.querySelector("input").focus()
  const spec = await response.json()
  if (name !== "openapi.json" && token === null) {
    delete spec.security
    delete spec.components.securitySchemes
  }
  spec.servers = [{ url: here.href.replace(/\\/$/, ""), description: "This server" }]
  for (const button of nav.querySelectorAll("button"))
    button.setAttribute("aria-pressed", String(button.dataset.document === name))
  reader.hidden = false
  reader.addEventListener(
    "spec-loaded",
    () => {
      const key = sessionStorage.getItem(KEY + name) ?? token
      if (key !== null) for (const scheme of schemes(spec)) reader.setApiKey(scheme, key)
    },
    { once: true }
  )
  reader.setAttribute("allow-authentication", String(schemes(spec).length > 0))
  reader.loadSpec(spec)
  reader.dataset.shown = name
}
const listCalls = (isShown) => {
  reader.toggleAttribute("data-calls", isShown)
  calls.setAttribute("aria-expanded", String(isShown))
}
calls.addEventListener("click", () => listCalls(!reader.hasAttribute("data-calls")))
form.addEventListener("submit", (event) => {
  event.preventDefault()
  sessionStorage.setItem(TOKEN, form.querySelector("input").value.trim())
  show("sandbox/openapi.json")
})

reader.addEventListener("before-try", ({ detail: { request } }) => {
  const sent = request.headers.get("Authorization")
  if (sent !== null) sessionStorage.setItem(KEY + reader.dataset.shown, sent.replace(/^Bearer /i, ""))
})
nav.addEventListener("click", ({ target }) => {
  if (!target.dataset.document) return
  listCalls(false)
  show(target.dataset.document)
})

const offer = async () => {
  const response = await fetch(new URL("sandbox/openapi.json", here))
  if (response.status === 404) return
  const button = document.createElement("button")
  button.type = "button"
  button.dataset.document = "sandbox/openapi.json"
  button.setAttribute("aria-pressed", "false")
  button.textContent = "Sandbox"
  nav.append(button)
  const link = document.createElement("a")
  link.href = "console"
  link.textContent = "Console"
  nav.append(link)
}
customElements
  .whenDefined("rapi-doc")
  .then(() => {
    reader.shadowRoot.adoptedStyleSheets.push(styles)
    const chose = ({ target }) => target.closest("[data-action=navigate]") && listCalls(false)
    // The reader stops the event at the list.
    reader.shadowRoot.addEventListener("click", chose, true)
    return show("openapi.json")
  })
  .then(offer)
`

/** Packed with the package; in a clone they are still where npm put them. */
const packed = fileURLToPath(new URL("../assets/", import.meta.url))
const folder = () =>
  existsSync(join(packed, "rapidoc-min.js"))
    ? packed
    : dirname(createRequire(import.meta.url).resolve("rapidoc/dist/rapidoc-min.js"))

const file = (type: string, name: string) =>
  onceAsked(Effect.promise(async () => constantBody(type, await readFile(join(folder(), name)))))

const parts = (): Readonly<Record<string, Effect.Effect<ConstantBody>>> => ({
  "/docs": Effect.succeed(constantBody("text/html; charset=utf-8", docsHtml)),
  "/docs/start.js": Effect.succeed(constantBody("text/javascript; charset=utf-8", docsScript)),
  "/docs/docs.css": Effect.succeed(constantBody("text/css; charset=utf-8", docsStyle)),
  "/docs/rapidoc-min.js": file("text/javascript; charset=utf-8", "rapidoc-min.js")
})

/** The page's addresses hold without a slash at the end, and this one too where a proxy adds a path. */
const withoutSlash: Page = { status: 308, headers: { Location: "../docs" }, body: "" }

/** `/docs`: a page to read the API and to try it with a key that is typed in. It asks nothing of any other host (Specification, Commands). */
export const docsPages: Effect.Effect<RouteGroup> = Effect.map(Effect.sync(parts), (known) =>
  pageGroup("/docs", (request) => {
    if (request.path === "/docs/") return Effect.succeed(withoutSlash)
    const part = known[request.path]
    return part && Effect.map(part, (body) => guarded(constantPage(body, request)))
  })
)
