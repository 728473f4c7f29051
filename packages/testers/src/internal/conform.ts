/**
 * Entry `@workshop/testers/internal/conform`: the parts of the conformance suite that `workshop conform` uses, in
 * addition to the public ones. They may change in any release.
 *
 * @internal
 */

export { type Case, type Section, sections } from "../conform/Case.js"
export {
  type CaseResult,
  closingLines,
  htmlReport,
  junitReport,
  type Report,
  reportOf,
  sectionLines
} from "../conform/Report.js"
export { ruleAt } from "../testkit/RuleAddress.js"
