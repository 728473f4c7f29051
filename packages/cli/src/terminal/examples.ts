/** What to type, shown at the end of a command's help: by the command's words, `""` being `workshop --help`. */
export const examples: Readonly<Record<string, ReadonlyArray<string>>> = {
  "": ["workshop serve --sandbox --demo --store memory", "workshop receive --register http://127.0.0.1:4010"],
  serve: ["workshop serve", "workshop serve --sandbox --demo --store memory"],
  dispatch: ["DATABASE_URL_FILE=/run/secrets/database-url workshop dispatch"],
  migrate: ["workshop migrate", "DATABASE_URL_FILE=/run/secrets/database-url workshop migrate --roles"],
  receive: [
    "WORKSHOP_SECRET_FILE=secret.txt workshop receive",
    "workshop receive --register http://127.0.0.1:4010",
    "WORKSHOP_KEY_FILE=key.txt workshop receive --register http://127.0.0.1:4010 --fail-share 0.3 --seed 7"
  ],
  scenario: ["workshop scenario new reopening", "workshop scenario run examples/scenarios"],
  "scenario run": [
    "workshop scenario run examples/scenarios",
    "workshop scenario run specs/*.yaml --base-url http://127.0.0.1:4010 --bail"
  ],
  "scenario new": ["workshop scenario new reopening"],
  "scenario schema": ["workshop scenario schema > scenario.schema.json"],
  simulate: ["workshop simulate --seed 7", "workshop simulate --seed 7 --steps 2000 --html run.html"],
  verify: [
    "WORKSHOP_SECRET_FILE=secret.txt workshop verify --signature 't=1732000000,v1=...' body.json",
    "WORKSHOP_SECRET_FILE=secret.txt workshop verify --signature 't=1732000000,v1=...' --at 2024-11-19T07:06:40Z < body.json"
  ],
  conform: [
    "workshop conform --base-url http://127.0.0.1:4010",
    "WORKSHOP_CONFORM_KEY_FILE=key.txt workshop conform --base-url https://api.example.com/v1 --junit conform.xml",
    "workshop conform --base-url http://127.0.0.1:4010 --section §3 --html conform.html",
    "workshop conform --list"
  ],
  openapi: ["workshop openapi > openapi.json", "workshop openapi --yaml"],
  completions: [
    "source <(workshop completions bash)",
    "workshop completions zsh > ~/.zfunc/_workshop",
    "workshop completions fish > ~/.config/fish/conf.d/workshop.fish"
  ],
  shop: [
    "workshop shop create --name 'Atelier Lac' --currency TND --decimals 3 --time-zone Africa/Tunis",
    "workshop shop list"
  ],
  "shop create": ["workshop shop create --name 'Atelier Lac' --currency TND --decimals 3 --time-zone Africa/Tunis"],
  "shop list": ["workshop shop list --json"],
  "shop show": ["workshop shop show 0197..."],
  "shop repair-clock": ["workshop shop repair-clock 0197..."],
  "shop set": [
    "workshop shop set 0197... --api-enabled yes",
    "workshop shop set 0197... --program-active yes --stamps-required 10 --reward-label 'A free hem'",
    "workshop shop set 0197... --next-number 421"
  ],
  key: ["workshop key create 0197... --name Till --preset full", "workshop key list 0197..."],
  "key create": [
    "workshop key create 0197... --name Till --preset full",
    "workshop key create 0197... --name Screen --scopes tickets:read,clients:read",
    "workshop key create 0197... --name Fair --preset read --expires-at 2027-01-31T12:00:00Z"
  ],
  "key list": ["workshop key list 0197..."],
  "key revoke": ["workshop key revoke 0197...", "workshop key revoke 0197... --yes"],
  webhook: ["workshop webhook set 0197... https://shop.example/events", "workshop webhook deliveries 0197..."],
  "webhook set": ["workshop webhook set 0197... https://shop.example/events"],
  "webhook show": ["workshop webhook show 0197..."],
  "webhook rotate": ["workshop webhook rotate 0197... --yes"],
  "webhook enable": ["workshop webhook enable 0197..."],
  "webhook disable": ["workshop webhook disable 0197..."],
  "webhook remove": ["workshop webhook remove 0197... --yes"],
  "webhook ping": ["workshop webhook ping 0197..."],
  "webhook deliveries": ["workshop webhook deliveries 0197... --state dead"],
  "webhook replay": [
    "workshop webhook replay 0197... --state dead --since 2026-01-01T00:00:00Z --dry-run",
    "workshop webhook replay 0197... --ids 0198...,0199..."
  ],
  "webhook notices": ["workshop webhook notices 0197..."],
  client: ["workshop client create --given-name Amira --family-name 'Ben Salah' --phone +21620123456"],
  audit: ["workshop audit --shop 0197...", "workshop audit --limit 1000 --json"],
  check: ["workshop check", "DATABASE_URL_FILE=/run/secrets/replica-url workshop check --json"],
  secrets: ["WORKSHOP_SECRETS_KEY_FILE=/run/secrets/new-and-old-key workshop secrets reseal"],
  "secrets reseal": [
    "WORKSHOP_SECRETS_KEY_FILE=/run/secrets/new-and-old-key workshop secrets reseal",
    "WORKSHOP_SECRETS_KEY_FILE=/run/secrets/key workshop secrets reseal --in-clear"
  ],
  "client create": ["workshop client create --given-name Amira --family-name 'Ben Salah' --phone +21620123456"],
  "client show": ["workshop client show 0197..."],
  "client visit": ["workshop client visit 0197... --shop 0198..."],
  "client offers": ["workshop client offers 0197..."],
  "client accept": ["workshop client accept 0199... 019a..."],
  "client block": ["workshop client block 0199... 019a... --yes"],
  "client export": ["workshop client export 0197... > client.json"],
  "client correct": ["workshop client correct 0197... --phone +21620123457"],
  "client erase": ["workshop client erase 0197... --yes", "workshop client erase 0197... --also-phone +21620123456"]
}

/** What the exit status of every command means. */
export const exitStatuses: ReadonlyArray<readonly [number, string]> = [
  [0, "done; for verify the signature is good, for serve and receive they ended as asked"],
  [1, "refused or failed; standard error says why and what to do"],
  [130, "interrupted with Ctrl-C before it was done"]
]
