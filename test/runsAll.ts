/**
 * Whether every test runs, those too that show a rule on a further variant of what another test shows: in `.ci/run`, and where a Postgres
 * is named, as by `npm run test:postgres`.
 */
export const RUNS_ALL = [
  process.env.WORKSHOP_TEST_ALL,
  process.env.WORKSHOP_TEST_POSTGRES,
  process.env.TEST_DATABASE_URL
].some((value) => value !== undefined && value !== "")
