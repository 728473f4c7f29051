import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

interface Block {
  readonly page: string
  /** The line of the opening fence, from 1. */
  readonly line: number
  readonly language: string
  readonly body: ReadonlyArray<string>
}

const root = fileURLToPath(new URL("..", import.meta.url))
const filesBelow = (folder: string, name: RegExp) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((path) => name.test(path) && !/(^|\/)(node_modules|dist)\//.test(path))
        .map((path) => join(folder, path))
    : []

const pages = [
  ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md", "test-vectors/README.md"].filter((page) =>
    existsSync(join(root, page))
  ),
  ...filesBelow("docs", /\.md$/),
  ...filesBelow("packages", /^[^/]+\/README\.md$/),
  ...filesBelow("examples", /(^|\/)README\.md$/)
]

const blocksOf = (page: string): ReadonlyArray<Block> => {
  const blocks: Array<Block & { body: Array<string> }> = []
  let fence: string | undefined
  readFileSync(join(root, page), "utf8")
    .split("\n")
    .forEach((text, i) => {
      const [, mark, language = ""] = /^\s*(`{3,}|~{3,})\s*([\w-]*)/.exec(text) ?? []
      if (fence === undefined && mark !== undefined) {
        fence = mark
        blocks.push({ page, line: i + 1, language, body: [] })
      } else if (mark !== undefined && language === "" && mark.startsWith(fence ?? mark)) fence = undefined
      else if (fence !== undefined) blocks.at(-1)?.body.push(text)
    })
  return blocks
}

const blocks = pages.flatMap(blocksOf)
const inLanguage = (...languages: ReadonlyArray<string>) =>
  blocks.filter(({ language }) => languages.includes(language))
const place = ({ page, line }: Block) => `${page}:${line}`

const CHECKED = ["ts", "json", "sh"]
const SHOWN = ["text", "mermaid", "yaml", "sql", "http", "diff", "dockerfile", "nginx", "ini", "python"]

describe("the code blocks of the pages", () => {
  it("every code block names a language from this file's lists of checked and of unchecked languages", () => {
    const others = blocks.filter(({ language }) => ![...CHECKED, ...SHOWN].includes(language))
    expect(others.map((block) => `${place(block)} "${block.language}"`)).toEqual([])
  })
})

describe("the programs of docs/embed*.md", () => {
  it("the programs import their own files with the extension .js, because ES modules require it", () => {
    const code = inLanguage("ts", "text").filter(({ page }) => page.startsWith("docs/embed"))
    const imports = code.flatMap(({ body }) => body.flatMap((line) => /from ["'](\.\/[^"']+)/.exec(line)?.[1] ?? []))
    expect(imports.filter((path) => !path.endsWith(".js"))).toEqual([])
    expect(imports.length).toBeGreaterThan(5)
  })
})

describe("the links of the pages", () => {
  const proseOf = (page: string) => readFileSync(join(root, page), "utf8").replaceAll(/^```[\s\S]*?^```/gm, "")
  /** The anchors that GitHub generates for a page's headings. */
  const anchorsOf = (page: string) =>
    [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
        .replaceAll(" ", "-")
    )
  const isDead = (page: string, link: string) => {
    const [path = "", anchor] = link.split("#")
    const target = path === "" ? page : join(dirname(page), path)
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).includes(anchor)
  }

  it.each(pages)("every link on %s has a target that exists", (page) => {
    const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link)
    expect(links.filter((link) => !/^https?:/.test(link) && isDead(page, link))).toEqual([])
  })
})

const typed = inLanguage("ts")

describe.runIf(typed.length > 0)("every ts block type-checks", () => {
  let folder = ""
  let output = ""
  /**
   * The file of a block. Blocks that begin with a file name share the folder of their page; the others do not import
   * each other.
   */
  const fileOf = ({ page, line, body }: Block) => {
    const name = /^\/\/ (src\/[\w/-]+\.ts)$/.exec(body[0] ?? "")?.[1]
    const folder = page.replaceAll(/\W/g, "_")
    return name === undefined ? `${folder}_${line}.ts` : `${folder}/${name}`
  }

  beforeAll(() => {
    mkdirSync(join(root, ".workshop"), { recursive: true })
    folder = mkdtempSync(join(root, ".workshop", "docs-"))
    // Each block is written at its line number on the page, so that errors of the compiler point there.
    for (const block of typed) {
      mkdirSync(dirname(join(folder, fileOf(block))), { recursive: true })
      writeFileSync(join(folder, fileOf(block)), "\n".repeat(block.line) + block.body.join("\n"))
    }
    const config = {
      extends: "../../tsconfig.test.json",
      // The options suit a program that emits declarations and loads the packages from node_modules, because then every
      // exported type must have a public name.
      compilerOptions: { noUnusedLocals: false, declaration: true, preserveSymlinks: true, paths: {} },
      include: ["**/*.ts"]
    }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
    const tsc = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder, "--pretty", "false"], {
      cwd: root,
      encoding: "utf8"
    })
    if (tsc.error) throw tsc.error
    output = tsc.stdout + tsc.stderr
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each(typed.map((block) => [place(block), block] as const))("the ts block at %s type-checks", (_, block) => {
    const path = relative(root, join(folder, fileOf(block)))
    expect(output.split("\n").filter((line) => line.startsWith(path))).toEqual([])
  })
  it("no file that the ts blocks import has a type error", () => {
    const elsewhere = output
      .split("\n")
      .filter((line) => /error TS/.test(line) && !line.startsWith(relative(root, folder)))
    expect(elsewhere).toEqual([])
  })
})

const data = inLanguage("json")

describe.runIf(data.length > 0)("every json block parses", () => {
  it.each(data.map((block) => [place(block), block] as const))("the json block at %s parses", (_, { body }) => {
    expect(() => JSON.parse(body.join("\n"))).not.toThrow()
  })
})

/** The commands of a block. Lines that continue after a backslash or within single quotes are joined. */
const commandsOf = ({ body }: Block) => {
  const commands: Array<string> = []
  let open = ""
  /** The word that ends the here-document of the previous command; undefined outside a here-document. */
  let text: string | undefined
  for (const line of body) {
    if (text !== undefined) {
      if (line === text) text = undefined
      continue
    }
    text = /<<(\w+)$/.exec(line)?.[1]
    if (open === "" && /^\s*(#|$)/.test(line)) continue
    open = open === "" ? line.trim() : `${open}\n${line}`
    if (open.endsWith("\\")) open = open.slice(0, -1)
    else if (open.split("'").length % 2 === 1) {
      commands.push(...open.split(/ && /))
      open = ""
    }
  }
  return open === "" ? commands : [...commands, open]
}

describe("sh blocks name commands that exist", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>
  }
  const cli = filesBelow("packages/cli/src", /\.ts$/).map((path) => readFileSync(join(root, path), "utf8"))
  const subcommands = cli.flatMap((text) =>
    [...text.matchAll(/\b(?:command|ownerCommand|group)\(\s*\{\s*name: "([\w-]+)"/g)].map(([, name]) => name)
  )

  const complaint = (command: string): string | undefined => {
    const [program = "", first = "", second = ""] = command.replace(/^(\w+=\S*\s+)+/, "").split(/\s+/)
    if (
      [
        "curl",
        "mkdir",
        "cd",
        "git",
        "export",
        "docker",
        "psql",
        "initdb",
        "cat",
        "echo",
        "for",
        "done",
        "trap",
        "pg_dump",
        "pg_restore",
        "createdb",
        "pg_basebackup",
        "pg_ctl",
        "openssl"
      ].includes(program)
    )
      return undefined
    if (program === "npm" && ["ci", "install", "i", "init", "pkg"].includes(first)) return undefined
    const script = program === "npm" ? (first === "run" ? second : first) : undefined
    if (script !== undefined) return script in scripts ? undefined : `package.json has no script "${script}"`
    // The pages install these programs and build these files in earlier steps.
    if (program === "npx" && ["tsc", "esbuild", "vitest", "drizzle-kit"].includes(first)) return undefined
    if (program === "node" && /^(dist|bundle)\//.test(first)) return undefined
    const isWorkshop = program === "workshop" || program === "node_modules/.bin/workshop"
    const workshop = program === "npx" && first === "workshop" ? second : isWorkshop ? first : undefined
    if (workshop === undefined) return `nothing here knows how to check "${program}"`
    return subcommands.includes(workshop) || workshop.startsWith("-")
      ? undefined
      : `workshop has no command "${workshop}"`
  }

  it.each(inLanguage("sh").map((block) => [place(block), block] as const))(
    "the sh block at %s names commands that exist",
    (_, block) => {
      expect(
        commandsOf(block)
          .map(complaint)
          .filter((problem) => problem !== undefined)
      ).toEqual([])
    }
  )
})
