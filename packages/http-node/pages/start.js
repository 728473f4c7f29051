// Starts RapiDoc with the OpenAPI document of the server that sent this page, so that RapiDoc sends its calls to that
// server. The key is stored only for this tab. If the server has a sandbox, the page also offers the sandbox's
// document.

// Corrects RapiDoc's styles: it breaks words, its tables are wider than a phone, and it hides the list of calls on a
// phone.
const READER_STYLE = `
#api-info { margin-left: 0 !important; }
#link-operations-top { display: none; }
.blue-text { color: var(--primary-color); }
.nav-bar-path span span { flex: none; white-space: nowrap; }
.m-markdown table { display: block; max-width: 100%; overflow-x: auto; }
@media (max-width: 767px) {
  :host([data-calls]) .nav-bar { display: flex; position: absolute; inset: 0; width: 100%; z-index: 3; }
  :host([data-calls]) .nav-bar-path, :host([data-calls]) .nav-bar-tag { padding-top: 10px; padding-bottom: 10px; }
  #api-title { padding-top: 20px; }
}
`

const here = new URL(".", location.href)
const reader = document.getElementById("docs")
const nav = document.querySelector("nav")
const form = document.querySelector("form")
const calls = document.querySelector(".calls")
const KEY = "workshop-docs-authorization"
// The key in sessionStorage under which the console stores the sandbox's token.
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
styles.replaceSync(READER_STYLE)

const schemes = (spec) => Object.keys(spec.components?.securitySchemes ?? {})
const load = (name, token) =>
  fetch(new URL(name, here), token === null ? {} : { headers: { Authorization: `Bearer ${token}` } })
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
  spec.servers = [{ url: here.href.replace(/\/$/, ""), description: "This server" }]
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
    // Listens in the capture phase, because RapiDoc stops the propagation of clicks in its list.
    reader.shadowRoot.addEventListener("click", chose, true)
    return show("openapi.json")
  })
  .then(offer)
