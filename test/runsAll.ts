/**
 * True if every test runs, which is the case in `.ci/run` and with a named Postgres, as in `npm run test:postgres`.
 * Otherwise the tests are skipped that only repeat the proof of another test on a further variant.
 */
export const RUNS_ALL = [
  process.env.WORKSHOP_TEST_ALL,
  process.env.WORKSHOP_TEST_POSTGRES,
  process.env.TEST_DATABASE_URL
].some((value) => value !== undefined && value !== "")
