import { Context } from "effect"

/**
 * Whether this process accepts test keys although it is not a sandbox. It is true in tests, which create such keys, and
 * false by default, because a production server refuses them (Specification, Keys and scopes).
 */
export class TestKeys extends Context.Reference<TestKeys>()("@workshop/core/TestKeys", {
  defaultValue: (): boolean => false
}) {}
