import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** The path of a request: paths of files and folders from the root. The result of a long suite depends on them. */
const ROOMS = ['translate', 'operations', 'providers', 'http', 'send', 'upstream', 'compose', 'kernel'];
const PATH_OF_A_REQUEST = [
  'src/formats',
  'src/plugin',
  ...ROOMS.map((room) => `src/core/${room}`),
  'src/addons/files',
  'src/addons/responses',
  'plugins',
  'test/support',
];

const CORE = ['src/core', 'src/formats', 'src/plugin', 'plugins', 'test/support'];
const ADD_ONS_OF_REQUESTS = ['files', 'guards', 'responses', 'budgets', 'prompts', 'semantic-cache'].map(
  (name) => `src/addons/${name}`,
);

/**
 * The long suites. `npm run test:full` runs them all and writes their result to test/full.json. `npm test` runs one whole only where a
 * file that it watches has changed since then.
 */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  growth: ['test/growth', 'src/core/catalog/fields', 'src/addons/guards', ...PATH_OF_A_REQUEST],
  // The READMEs of plugins and the recipes are pages of the site.
  'docs:build': [
    'docs',
    'plugins',
    'src/addons',
    'configs/recipes',
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'SECURITY.md',
  ],
  agents: ['test/agents', ...PATH_OF_A_REQUEST],
  faults: ['test/faults', 'src/core/record', 'src/core/memory', ...PATH_OF_A_REQUEST],
  clients: ['test/clients', 'test/faults', ...PATH_OF_A_REQUEST],
  conformance: ['test/conformance', ...PATH_OF_A_REQUEST],
  leaks: ['test/headers', 'src/core/settings', ...PATH_OF_A_REQUEST],
  recipes: ['test/recipes', 'configs/recipes', 'src/addons/config-tests', 'src/core/settings', ...PATH_OF_A_REQUEST],
  money: ['test/money', 'src/addons/budgets', 'src/core/compose', 'src/core/process', 'src/core/ports'],
  formats: ['src/formats', 'test/support'],
  tables: ['test/translation', 'docs/reference', ...PATH_OF_A_REQUEST],
  doors: ['test/http', 'test/upstream', 'test/plugins', ...CORE, ...ADD_ONS_OF_REQUESTS],
  processes: ['test/cli', 'test/package', 'build', 'schemas', 'src/cli', 'src/addons/workers', ...CORE],
  stores: ['test/state', 'test/governance', 'test/admin', 'src/addons/budgets', 'src/addons/admin', ...CORE],
};

/** Suites that are folders of test files: where such a suite is not due, one file in four runs, others after each commit. */
export const FOLDERS_OF: Readonly<Record<string, RegExp>> = {
  formats: /^src.formats./,
  tables: /^test.translation./,
  doors: /^test.(http|upstream|plugins)./,
  processes: /^test.(cli|package)./,
  stores: /^test.(state|governance|admin)./,
};

/** The scripts of package.json that run a suite, where it is not `crossing`. */
const SCRIPT_OF: ReadonlyMap<string, string> = new Map([
  ['formats', 'unit'],
  ...['growth', 'docs:build', 'agents'].map((name) => [name, name] as const),
]);

/** The result of the last whole run of a part. */
export interface Passed {
  /** Digest of the files that the part watches. */
  readonly files: string;
  /** The commit that was tested, and the day. */
  readonly commit: string;
  readonly date: string;
  readonly seconds: number;
}

export const RESULTS = 'test/full.json';

export function readResults(root: string): Readonly<Record<string, Passed>> {
  const file = join(root, RESULTS);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, Passed>>) : {};
}

/** Folders of files that a command has written. */
const BUILT = /(^|[/\\])(node_modules|dist|\.[^/\\]*)[/\\]/;

function filesOf(root: string, path: string): string[] {
  const there = join(root, path);
  if (!existsSync(there)) return [];
  if (!statSync(there).isDirectory()) return [path];
  return readdirSync(there, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !BUILT.test(file));
}

/** Digest of names and texts, so that it needs no history of commits: a shallow clone has the same one. */
export function digestOf(root: string, paths: readonly string[]): string {
  const hash = createHash('sha256');
  const files = new Set(paths.flatMap((path) => filesOf(root, path)));
  for (const file of [...files].sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex').slice(0, 16);
}

/** Names of the parts that have not passed with the current files. */
export function dueParts(root: string): readonly string[] {
  const results = readResults(root);
  return Object.entries(PARTS).flatMap(([name, paths]) =>
    results[name]?.files === digestOf(root, paths) ? [] : [name],
  );
}

/** A test file that failed, with the first line of what each of its failed tests says. */
export interface FailedFile {
  readonly file: string;
  readonly tests: readonly string[];
}

/** A script of package.json that has ended. `failed`: absent where no report names the files. */
export interface EndedScript {
  readonly name: string;
  readonly outcome: string;
  readonly seconds: number;
  readonly failed?: readonly FailedFile[];
}

/** Writes what a run of everything has shown. A part that could not run, or that watches a failed test file, keeps its earlier result. */
export function writeResults(root: string, ended: readonly EndedScript[]): void {
  const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const results: Record<string, Passed> = { ...readResults(root) };
  for (const [name, paths] of Object.entries(PARTS)) {
    const by = ended.find((script) => script.name === (SCRIPT_OF.get(name) ?? 'crossing'));
    if (by && hasPassed(by, paths)) results[name] = { files: digestOf(root, paths), commit, date, seconds: by.seconds };
  }
  writeFileSync(join(root, RESULTS), `${JSON.stringify(results, undefined, 2)}\n`);
}

const hasPassed = ({ outcome, failed = [] }: EndedScript, paths: readonly string[]): boolean =>
  outcome === 'passed' ||
  (failed.length > 0 && !failed.some(({ file }) => paths.some((path) => file.startsWith(`${path}/`))));

/** The part of vitest's JSON report that is read here. `message`: the error of a file that did not load. */
interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults?: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

const firstLine = (text = ''): string => text.split('\n', 1)[0]!.slice(0, 300);

/** The test files that failed, by the JSON report of vitest; undefined: there is none, since the run was cut. */
export function failedFilesOf(root: string, report: string): readonly FailedFile[] | undefined {
  if (!existsSync(report)) return undefined;
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as TestReport;
  return testResults
    .filter(({ status }) => status !== 'passed')
    .map(({ name, message, assertionResults = [] }) => {
      const tests = assertionResults
        .filter(({ status }) => status === 'failed')
        .map(({ fullName, failureMessages = [] }) => `${fullName}: ${firstLine(failureMessages[0])}`);
      return {
        file: relative(root, name).replaceAll('\\', '/'),
        tests: tests.length > 0 ? tests : [firstLine(message)],
      };
    });
}
