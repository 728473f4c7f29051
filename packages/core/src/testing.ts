/**
 * Entry `@workshop/core/testing`: for authors of a store, and for tests with their own clock. It has the contract
 * that every store must meet, and a clock and randomness that tests control.
 *
 * @example
 * ```ts
 * import { runContract, SettableClock } from "@workshop/core/testing"
 * ```
 *
 * @packageDocumentation
 */

export type { ContractCase } from "./testing/ContractCase.js"
export { RiggedEntropy } from "./testing/RiggedEntropy.js"
export { SettableClock, TEST_START } from "./testing/SettableClock.js"
export { type ContractRun, runContract, storeContract, type TestRunner } from "./testing/StoreContract.js"
