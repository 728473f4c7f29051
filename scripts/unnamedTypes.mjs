const DERIVED_CLIENT = "a part of the client's type, which is derived from the contract; editors show the result"
const INFERRED_METHODS = "the methods, whose types are inferred; ActorServices and PromiseWorkshop name them"
const OWN_SERVICE = "a service of the runtime for the workshop itself, which no embedder provides or reads"
const INSIDE_MEMORY = "a data structure inside Memory, which callers pass to a layer as a whole"
const PARSED_SCENARIO = "a part of a parsed scenario, which callers pass to runParsedScenario as a whole"

/**
 * The types that public signatures use although no public entry exports them, each with its package and the reason.
 * `check-surface.mjs` refuses every other such type.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const unnamedTypes = {
  "core: Groups": DERIVED_CLIENT,
  "core: Endpoints": DERIVED_CLIENT,
  "core: Method": DERIVED_CLIENT,
  "core: errorCodes": "the table behind ErrorCode, of which editors show the codes",
  "core: Route": "a compiled endpoint in a RouteGroup, which embedders pass to pipeline as a whole",
  "core: WithGroupsOnce": "a check by the compiler, of which a user only sees the error message",
  "core: BackgroundWork": OWN_SERVICE,
  "core: BackgroundRetention": OWN_SERVICE,
  "core: Lifecycle": OWN_SERVICE,
  "core: promiseApi": INFERRED_METHODS,
  "core: promiseTransfers": INFERRED_METHODS,
  "core: makeCronMethods": INFERRED_METHODS,
  "store-memory: ShopData": INSIDE_MEMORY,
  "store-memory: ShopTurns": INSIDE_MEMORY,
  "store-memory: WaitingNotifications": INSIDE_MEMORY,
  "testers: CaseShop": "the environment of a case, which runCases makes for the cases of the suite",
  "testers: Inboxes": "the receivers of a target, which findTarget opens and only the cases use",
  "testers: GivenShop": PARSED_SCENARIO,
  "testers: GivenClient": PARSED_SCENARIO,
  "testers: Step": PARSED_SCENARIO
}
