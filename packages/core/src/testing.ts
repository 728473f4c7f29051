/** Entry `@workshop/core/testing`: the contract that every store must meet, and a clock, randomness and fixtures for tests. */

export type { ContractCase } from "./testing/ContractCase.js"
export { RiggedEntropy } from "./testing/RiggedEntropy.js"
export { SettableClock, TEST_START } from "./testing/SettableClock.js"
export { type ContractRun, runContract, storeContract, type TestRunner } from "./testing/StoreContract.js"
