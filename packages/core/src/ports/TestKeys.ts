import { Context } from "effect"

/**
 * Whether this process accepts test keys although its clock is no sandbox's, because it is a test that made them itself. False by default:
 * a production server refuses them (Specification, Keys and scopes).
 */
export class TestKeys extends Context.Reference<TestKeys>()("@workshop/core/TestKeys", {
  defaultValue: (): boolean => false
}) {}
