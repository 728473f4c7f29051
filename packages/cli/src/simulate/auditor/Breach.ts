/** The anchors in `docs/specification.md` of the rules that the auditor holds a service to. */
export const anchors = [
  "rule-envelope-success",
  "rule-api-disabled",
  "rule-error-request-id",
  "rule-instants-held",
  "rule-event-envelope",
  "rule-create-numbers",
  "rule-create-client-linked",
  "rule-create-offer",
  "rule-status-workshop-ready",
  "rule-reopen-at-24h",
  "rule-status-all-refused",
  "rule-status-all-refused-2",
  "rule-status-instants",
  "rule-notified-ready",
  "rule-closure-uncollected",
  "rule-closure-at-its-own-instant",
  "rule-closure-never-all",
  "rule-create",
  "rule-status-workshop-ready-2",
  "rule-replay",
  "rule-idempotency-reused",
  "rule-idempotency-by-key",
  "rule-idempotency-parallel",
  "rule-list-newest-first",
  "rule-list-default-page",
  "rule-sync-order",
  "rule-sync-meta",
  "rule-sync-equal-instants",
  "rule-privacy-look-up",
  "rule-stamps",
  "rule-stamps-2",
  "rule-redeem",
  "rule-key-missing",
  "rule-key-revoked",
  "rule-scope-all",
  "rule-event-steps",
  "rule-event-frozen",
  "rule-signature",
  "rule-delivery-status-all",
  "rule-delivery-retries",
  "rule-delivery-order",
  "rule-delivery-no-webhook",
  "rule-webhook-gone",
  "rule-error-shop-not-approved",
  "rule-error-failures",
  "rule-error-validation",
  "rule-error-order-of-403",
  "rule-error-retry-after",
  "rule-limit-requests",
  "rule-limit-tickets-hour",
  "rule-limit-lookups-all",
  "rule-limit-stamps",
  "rule-limit-unauthenticated",
  "rule-limit-headers",
  "rule-version-in-path"
] as const

type Anchor = (typeof anchors)[number]

/** A rule of the specification that was broken, and how. */
export interface Breach {
  readonly anchor: Anchor
  readonly message: string
}

/** A breach of the rule with this anchor. */
export const breaks = (anchor: Anchor, message: string): Breach => ({ anchor, message })
