import { BaseSequencer, type TestSpecification } from "vitest/node"

/** The test files that occupy a worker longest. */
const LONGEST = [
  "proof/kills/kills.test.ts",
  "test/packages.test.ts",
  "test/console.test.ts",
  "store-pg/test/PgCells.test.ts",
  "store-pg/test/statements.test.ts",
  "testers/test/conform/broken.test.ts",
  "cli/test/scenario/examples.test.ts",
  "cli/test/cells/citusPage.test.ts",
  "store-pg/test/failures/failover.test.ts",
  "store-pg/test/PgStore.test.ts",
  "proof/fleet/fleet.test.ts",
  "cli/test/demo.test.ts",
  "test/consoleSessions.test.ts",
  "testers/test/simulate/simulation.test.ts",
  "cli/test/serve.test.ts",
  "cli/test/receive/receive.test.ts",
  "store-pg/test/failures/receipts.test.ts",
  "store-pg/test/failures/standby.test.ts",
  "cli/test/owner/flags.test.ts",
  "cli/test/simulate/sandbox.test.ts",
  "store-pg/test/embedded/users.test.ts",
  "cli/test/dispatch/webhookFlags.test.ts",
  "cli/test/cells/cells.test.ts",
  "test/docsPage.test.ts",
  "store-pg/test/failures/lostConnections.test.ts",
  "store-pg/test/nodes/processes.test.ts",
  "store-pg/test/embedded/durability.test.ts",
  "proof/torture/torture.test.ts",
  "core/test/services/Model.test.ts",
  "test/trackingPages.test.ts"
]

const rank = ({ moduleId }: TestSpecification): number => {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(name))
  return place === -1 ? LONGEST.length : place
}

/**
 * Starts the longest files first, so that no worker still runs one of them when the others have nothing left to run.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
