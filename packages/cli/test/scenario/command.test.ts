import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runScenario } from "@workshop/testers/scenario"
import { Either } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { ScenarioFailed } from "../../../testers/src/scenario/runScenario.js"
import { findFiles } from "../../src/scenario/runFiles.js"
import { runCommandLine } from "../runCommandLine.js"
import { build, run, Workshop } from "../Workshop.js"

beforeAll(build, 120_000)

const LONG = { timeout: 60_000 }

const folder = () => mkdtempSync(join(tmpdir(), "workshop-scenario-"))

const good = "name: Good\nsteps:\n  - get shop: {}\n"
const bad = "name: Bad\nsteps:\n  - get shop: {}\n    expect: 404\n"

describe.concurrent("workshop scenario (Specification, Commands)", LONG, () => {
  it("workshop scenario run exits with status 0 if all pass, and prints a line for each step", async () => {
    const at = folder()
    writeFileSync(join(at, "good.yaml"), good)
    const { status, stdout, stderr } = await run(["scenario", "run", join(at, "good.yaml")])
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).toBe(
      `\u2713 Good (${join(at, "good.yaml")})\n  \u2713 get shop\n\n1 scenario, 1 step: all passed (${/\((\d+) ms\)/.exec(stdout)?.[1]} ms)\n`
    )
  })

  it("workshop scenario run --bail stops at the first failure and exits with status 1", async () => {
    const at = folder()
    writeFileSync(join(at, "a.yaml"), bad)
    writeFileSync(join(at, "b.yaml"), good)
    const all = await runCommandLine(["scenario", "run", at])
    expect(all).toMatchObject({ status: 1, stderr: "1 of 2 scenarios failed.\n" })
    const bailed = await runCommandLine(["scenario", "run", at, "--bail"])
    expect(bailed).toMatchObject({ status: 1, stderr: "1 of 1 scenario failed, and 1 was not run.\n" })
  })

  it("workshop scenario run --json prints the results for programs", async () => {
    const at = folder()
    writeFileSync(join(at, "a.yaml"), bad)
    const { stdout } = await runCommandLine(["scenario", "run", at, "--json"])
    expect(JSON.parse(stdout)).toMatchObject({
      passed: 0,
      failed: 1,
      scenarios: [
        {
          file: join(at, "a.yaml"),
          name: "Bad",
          passed: false,
          steps: [{ line: 3, title: "get shop", outcome: "failed" }],
          failure: { line: 3, column: 5, mismatches: [{ path: "status", expected: "404", actual: "200" }] }
        }
      ]
    })
  })

  it("workshop scenario run --json prints the mistakes of invalid files, and runs none of them", async () => {
    const at = folder()
    writeFileSync(join(at, "a.yaml"), "name: x\nsteps:\n  - pong: {}\n")
    const { status, stdout, stderr } = await runCommandLine(["scenario", "run", at, "--json"])
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "No scenario was run. Correct the problem above, and run the command again.\n"
    })
    expect(JSON.parse(stdout)).toMatchObject({
      passed: 0,
      failed: 0,
      scenarios: [],
      problems: [{ file: join(at, "a.yaml"), line: 3, column: 5, path: "steps.0.pong" }]
    })
  })

  it("workshop scenario run --only runs the scenarios whose name matches, and --verbose shows every request, in JSON too", async () => {
    const at = folder()
    writeFileSync(join(at, "a.yaml"), bad)
    writeFileSync(join(at, "b.yaml"), good)
    const { status, stdout } = await runCommandLine(["scenario", "run", at, "--only", "Goo", "--verbose"])
    expect(status).toBe(0)
    expect(stdout).toContain("1 scenario, 1 step: all passed")
    expect(stdout).toMatch(/✓ get shop\n {6}request: GET \/v1\/shop\n[\s\S]*response: 200/)
    const printed = async (...flags: ReadonlyArray<string>) =>
      JSON.parse((await runCommandLine(["scenario", "run", at, "--only", "Good", "--json", ...flags])).stdout)
        .scenarios[0].steps[0]
    expect(await printed()).toEqual({ line: 3, title: "get shop", outcome: "passed", duration_ms: expect.any(Number) })
    expect(await printed("--verbose")).toMatchObject({ exchange: { status: 200, call: { path: "/v1/shop" } } })
    expect(await runCommandLine(["scenario", "run", at, "--only", "Nobody"])).toMatchObject({
      status: 1,
      stderr: 'No scenario has a name that matches --only. The names are under "name" in the files.\n'
    })
  })

  it("workshop scenario run --html and --junit write the report to files, even if a scenario fails", async () => {
    const at = folder()
    writeFileSync(join(at, "a.yaml"), bad.replace("Bad", "Bad <b>"))
    writeFileSync(join(at, "b.yaml"), good)
    const [html, junit] = [join(at, "report.html"), join(at, "report.xml")]
    const { status } = await runCommandLine(["scenario", "run", at, "--html", html, "--junit", junit])
    expect(status).toBe(1)
    const page = readFileSync(html, "utf8")
    expect(page).toContain("1 of 2 scenarios failed")
    expect(page).toContain("Bad &lt;b&gt;")
    expect(page).toContain(`npx workshop scenario run ${join(at, "a.yaml")}</code>`)
    expect(page).toMatch(/Run in the command's own process, \d{4}-\d\d-\d\dT[\d:.]+Z\./)
    expect(page).not.toMatch(/<(link|script src|img|iframe|object)\b|\bsrc=|url\(|@import/)
    const xml = readFileSync(junit, "utf8")
    expect(xml).toContain('<testsuites name="workshop scenario" tests="2" failures="1"')
    expect(xml).toMatch(
      /<testcase classname="\S+a\.yaml" name="Bad &lt;b&gt;" time="[\d.]+">\n {6}<failure message="get shop: status">/
    )
  })

  it("workshop scenario run --base-url first names the server whose clock it moves, and the report's command repeats the flag", async () => {
    const at = folder()
    writeFileSync(join(at, "a.yaml"), good)
    const html = join(at, "report.html")
    const there = "http://127.0.0.1:1"
    const { stderr } = await runCommandLine(["scenario", "run", at, "--html", html, "--base-url", there])
    expect(stderr).toContain(
      `The scenarios move the sandbox's clock at ${there} forward, for everybody who uses that sandbox.\n`
    )
    const page = readFileSync(html, "utf8")
    expect(page).toContain(`npx workshop scenario run ${join(at, "a.yaml")} --base-url ${there}</code>`)
    expect(page).toContain(`Run against ${there}, `)
  })

  it("workshop scenario run --watch runs again when a file changes", async () => {
    const at = folder()
    const file = join(at, "a.yaml")
    writeFileSync(file, bad)
    const watching = new Workshop(["scenario", "run", file, "--watch"])
    await watching.says(/1 failed/)
    writeFileSync(file, good)
    await watching.says(/all passed/)
    watching.kill("SIGINT")
    await watching.exited
  })

  it("workshop scenario run runs nothing if one file is invalid", async () => {
    const at = folder()
    writeFileSync(join(at, "a.yaml"), good)
    writeFileSync(join(at, "b.yaml"), good.replace("get shop", "get shp"))
    const { status, stdout, stderr } = await runCommandLine(["scenario", "run", at])
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" })
    expect(stderr).toBe(
      `${join(at, "b.yaml")}:3:5 steps.0.get shp is not a known field; did you mean "get shop"?\nNo scenario was run. Correct the problem above, and run the command again.\n`
    )
  })

  it.each([
    [["run"], "error: missing required argument 'file'. See workshop scenario run --help."],
    [[], "Give one of the commands run, new, schema. workshop scenario --help describes them."]
  ])("workshop scenario %j says what to do", async (args, sentence) => {
    expect(await runCommandLine(["scenario", ...args])).toEqual({ status: 1, stdout: "", stderr: `${sentence}\n` })
  })

  it("workshop scenario new writes a scenario that passes, and the schema beside it; it overwrites nothing", async () => {
    const at = folder()
    const file = join(at, "first.yaml")
    expect(await runCommandLine(["scenario", "new", join(at, "first")])).toEqual({
      status: 0,
      stdout: `Created ${file}. Run it with: npx workshop scenario run ${file}\n`,
      stderr: ""
    })
    const text = readFileSync(file, "utf8")
    expect(text.split("\n")[0]).toBe("# yaml-language-server: $schema=scenario.schema.json")
    expect(JSON.parse(readFileSync(join(at, "scenario.schema.json"), "utf8"))).toMatchObject({
      $ref: "#/$defs/Scenario"
    })
    expect(await runScenario(file)).toMatchObject({ passed: true, section: "3" })
    expect(await runCommandLine(["scenario", "new", file])).toEqual({
      status: 1,
      stdout: "",
      stderr: `The file ${file} already exists and was not changed. Choose another name.\n`
    })
    expect(readFileSync(file, "utf8")).toBe(text)
  })

  it("runScenario rejects with the report, or with the problems of the file", async () => {
    const at = folder()
    writeFileSync(join(at, "a.yaml"), bad)
    writeFileSync(join(at, "b.yaml"), "name: x")
    await expect(runScenario(join(at, "a.yaml"))).rejects.toThrow(/^\u2717 Bad[\s\S]*- 404\n +\+ 200/)
    await expect(runScenario(join(at, "b.yaml"))).rejects.toThrow(
      new ScenarioFailed(`${join(at, "b.yaml")}:1:1 steps is required.`)
    )
  })
})

describe("the file arguments of workshop scenario run", () => {
  it("scenarios can be named by files, folders with everything below them, and patterns, and each file is run once and in order", () => {
    const at = folder()
    mkdirSync(join(at, "more"))
    const [a, b, c] = [join(at, "a.yaml"), join(at, "more", "b.yml"), join(at, "c.txt")]
    for (const file of [a, b, c]) writeFileSync(file, "")
    expect(findFiles([at, a])).toEqual(Either.right([a, b]))
    expect(findFiles([c])).toEqual(Either.right([c]))
    expect(findFiles([`${at}/*.yaml`])).toEqual(Either.right([a]))
    expect(findFiles([`${at}/**/*.y*ml`])).toEqual(Either.right([a, b]))
    expect(findFiles([`${at}/mor?/b.yml`])).toEqual(Either.right([b]))
  })

  it("a path at which there is no scenario is refused", () => {
    const at = folder()
    expect(findFiles([`${at}/no.yaml`])).toEqual(
      Either.left(`There is no file ${at}/no.yaml. Create it with workshop scenario new ${at}/no.`)
    )
    expect(findFiles([`${at}/no/*.yaml`])).toEqual(Either.left(`No file matches the pattern ${at}/no/*.yaml.`))
    expect(findFiles([at])).toEqual(Either.left(`There is no .yaml file in the folder ${at}.`))
  })
})
