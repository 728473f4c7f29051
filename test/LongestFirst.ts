import { BaseSequencer, type TestSpecification } from "vitest/node"

/** The files that take a worker ten seconds or more. */
const LONGEST = [
  "test/packages.test.ts",
  "test/console.test.ts",
  "test/consoleSessions.test.ts",
  "test/docsPage.test.ts",
  "store-pg/test/statements.test.ts",
  "store-pg/test/PgCells.test.ts",
  "store-pg/test/failures/wires.test.ts",
  "proof/torture/torture.test.ts",
  "store-pg/test/nodes/processes.test.ts",
  "store-pg/test/PgStore.test.ts",
  "cli/test/serve.test.ts",
  "store-pg/test/embedded/durability.test.ts",
  "core/test/services/Model.test.ts",
  "test/trackingPages.test.ts"
]

const rank = ({ moduleId }: TestSpecification): number => {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(name))
  return place === -1 ? LONGEST.length : place
}

/** Runs the longest files first, so that no worker runs one of them while the others have nothing left to do. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
