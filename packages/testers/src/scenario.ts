/** Entry `@workshop/testers/scenario`: scenarios as `workshop scenario` runs them. */

export { readScenario } from "./scenario/readScenario.js"
export { runParsedScenario, runScenario } from "./scenario/runScenario.js"
