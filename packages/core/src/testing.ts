/** Entry `@workshop/core/testing`: the contract that every store must meet, and a clock, randomness and fixtures for tests. */

export type { ContractCase } from "./testing/ContractCase.js"
export { RiggedEntropy } from "./testing/RiggedEntropy.js"
export { type ContractRun, runContract, type TestRunner } from "./testing/runContract.js"
export { SettableClock, TEST_START } from "./testing/SettableClock.js"
export { storeContract } from "./testing/StoreContract.js"
