/** What must never be read in a log, whatever brought it there, and what stands in its place. */
const SECRETS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(wk_live|wk_test|whsec)_[\w-]+/g, "$1_..."],
  [/\bBearer\s+[^\s"'\\]+/gi, "Bearer ..."],
  [/(?<!\w)(\w+:\/\/[^\s:@/"]*):[^\s@/"]*@/g, "$1:...@"],
  // In E.164, also where a query string escaped the plus.
  [/(?:\+|%2B)[1-9]\d{6,14}\b/gi, "+..."]
]

/** A line without keys, webhook secrets, tokens, passwords of databases and phone numbers. No code of ours logs any: causes from elsewhere might. */
export const redacted = (line: string): string =>
  SECRETS.reduce((said, [pattern, instead]) => said.replaceAll(pattern, instead), line)
