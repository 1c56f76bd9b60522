import { dirname, join } from 'node:path';
import type { Clock } from '../../plugin/index.ts';
import { sortDiagnostics, type Diagnostic, SettingsRefused } from '../../core/settings/source/diagnostic.ts';
import type { FolderRead, SettingsFiles } from '../../core/settings/source/files.ts';
import type { JsonPath } from '../../core/settings/schema/pointer.ts';
import { loadSettings } from '../../core/settings/read/load.ts';
import { partOf } from '../../core/process/add-on-parts.ts';
import type { Recordings } from '../../core/process/recordings-port.ts';
import { isReplay, type ReadReplay } from './answers.ts';
import { checkTests } from './check-tests.ts';
import { compare } from './compare.ts';
import type { Mismatch } from './differences.ts';
import { namesIn } from './names.ts';
import type { CaseOutcome } from './outcome.ts';
import { readTests, type TestFile } from './read-tests.ts';
import { hasFailed, pathText, type CaseResult, type Failure, type TestsEnd } from './results.ts';
import { requestsOf, type FullCase } from './case-requests.ts';
import type { RunnerSetup } from './runner.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

export interface TestRun {
  readonly folder: string;
  /** Must return the same contents throughout. */
  readonly files: SettingsFiles;
  readonly clock: Pick<Clock, 'now'>;
  /** Returns the outcome of each request, up to one that does not end. */
  readonly runCase: (setup: RunnerSetup, testCase: FullCase) => Promise<readonly CaseOutcome[]>;
  /** Runs only cases with this text in `FILE: NAME`, ignoring case. */
  readonly filter?: string | undefined;
  readonly bail: boolean;
  /** Called when all files are read, before any case runs. */
  readonly onRead?: (warnings: readonly Diagnostic[]) => void;
  readonly onResult: (result: CaseResult) => void;
}

export async function runTests(run: TestRun): Promise<TestsEnd> {
  const { folder, files } = run;
  const tests = await readTests(folder, files);
  const setups = await setupsOf(tests.files, run);
  const diagnostics = sortDiagnostics([...tests.diagnostics, ...(await mistakesAround(tests.files, setups, files))]);
  run.onRead?.(diagnostics.filter((one) => !isError(one)));
  if (tests.paths.length === 0) return nothing(folder, files);
  if (diagnostics.some(isError)) return { kind: 'broken', diagnostics: diagnostics.filter(isError) };
  const cases = tests.files.flatMap((file) => {
    const setup = setups.get(keyOf(file.env))!;
    return file.cases.map((testCase, index) => ({ setup, file, testCase, index }));
  });
  const chosen = cases.filter(({ file, testCase }) => isSelected(`${file.path}: ${testCase.name}`, run.filter));
  if (chosen.length > 0) return runAll(chosen, run);
  const message = `none of the ${cases.length} cases in ${folder} has ${JSON.stringify(run.filter)} in its name or file`;
  return { kind: 'nothing', message };
}

const isError = ({ severity }: Diagnostic): boolean => severity === 'error';

const isSelected = (text: string, filter: string | undefined): boolean =>
  filter === undefined || text.toLowerCase().includes(filter.toLowerCase());

async function nothing(folder: string, files: SettingsFiles): Promise<TestsEnd> {
  const listed = await files.list(folder);
  const none = `there are no tests in ${folder}: tests of gateway/NAME.yaml belong in gateway/NAME.test.yaml`;
  return { kind: 'nothing', message: 'names' in listed ? none : noFolder(folder, listed) };
}

const noFolder = (folder: string, read: Exclude<FolderRead, { names: unknown }>): string =>
  'problem' in read ? `${folder} ${read.problem}` : `there is no folder ${folder}`;

async function setupsOf(
  tests: readonly TestFile[],
  { folder, files }: Pick<TestRun, 'folder' | 'files'>,
): Promise<ReadonlyMap<string, RunnerSetup>> {
  const setups = new Map<string, RunnerSetup>();
  // Without a valid test file, the settings' own errors are still reported.
  for (const { env } of tests.length > 0 ? tests : [{ env: {} }]) {
    const key = keyOf(env);
    if (setups.has(key)) continue;
    setups.set(key, { configs: folder, env, loaded: await loadSettings(folder, { env, files, fakeMissing: true }) });
  }
  return setups;
}

/** Errors of the settings, and names in the tests that the settings do not have. */
async function mistakesAround(
  tests: readonly TestFile[],
  setups: ReadonlyMap<string, RunnerSetup>,
  files: SettingsFiles,
): Promise<readonly Diagnostic[]> {
  // `gatehouse validate` reports the other warnings.
  const mistakes = [...setups.values()].flatMap(({ loaded: { folderExists, diagnostics } }) =>
    folderExists ? diagnostics.filter((one) => isError(one) || MEANT_AS_TESTS.test(one.file)) : [],
  );
  const misnamed = tests.map(async (file) => {
    const { settings } = setups.get(keyOf(file.env))!.loaded;
    return settings ? checkTests(file, await namesIn(settings, files)) : [];
  });
  return [...mistakes, ...(await Promise.all(misnamed)).flat()];
}

/** Files that would be skipped silently. */
const MEANT_AS_TESTS = /\.tests?\.ya?ml$/i;

const keyOf = (env: TestFile['env']): string => JSON.stringify(Object.entries(env));

interface Chosen {
  /** Shared by all cases with the same variables, so that the settings are read once per set of variables. */
  readonly setup: RunnerSetup;
  readonly file: TestFile;
  readonly testCase: FullCase;
  readonly index: number;
}

async function runAll(chosen: readonly Chosen[], run: TestRun): Promise<TestsEnd> {
  const began = run.clock.now();
  const results: CaseResult[] = [];
  try {
    for (const one of chosen) {
      if (run.bail && results.some(hasFailed)) break;
      const result = await runOne(one, run);
      results.push(result);
      run.onResult(result);
    }
  } catch (error) {
    if (error instanceof SettingsRefused) return { kind: 'broken', diagnostics: error.diagnostics };
    throw error;
  }
  return { kind: 'ran', results, notRun: chosen.length - results.length, ms: run.clock.now() - began };
}

async function runOne(chosen: Chosen, run: TestRun): Promise<CaseResult> {
  const { file, testCase, index } = chosen;
  const began = run.clock.now();
  const { step, mismatches } = await firstMismatches(chosen, run);
  return {
    file: file.path,
    name: testCase.name,
    place: file.placeOf(['cases', index, 'name']),
    failures: mismatches.map(({ path, ...mismatch }): Failure => {
      const at = [...step, ...(path.length > 0 ? ['expect', ...path] : besideExpect(testCase, step))];
      const what = pathText(path.length > 0 ? [...step, ...path] : step);
      return { ...file.placeOf(['cases', index, ...at]), what, ...mismatch };
    }),
    ms: run.clock.now() - began,
  };
}

/** An error of the case itself points at its `upstream`. */
function besideExpect(testCase: FullCase, [, index]: JsonPath): JsonPath {
  const stepAt = typeof index === 'number' ? testCase.next?.[index] : testCase;
  if (stepAt?.upstream) return ['upstream'];
  return stepAt === testCase ? ['name'] : [];
}

interface Mismatches {
  /** Path of the request in its case: empty, or `next[0]`. */
  readonly step: JsonPath;
  readonly mismatches: readonly Mismatch[];
}

/** The mismatches of the first failing request; later ones are its consequences. */
async function firstMismatches({ setup, file, testCase }: Chosen, run: TestRun): Promise<Mismatches> {
  try {
    const readReplay = await replaysOf(testCase, file.path, run.files);
    const outcomes = await run.runCase(setup, readReplay ? { ...testCase, readReplay } : testCase);
    for (const [index, { expect }] of requestsOf(testCase).entries()) {
      const outcome = outcomes[index];
      const mismatches = outcome ? compare(expect, outcome) : [{ path: [], message: NOT_MADE }];
      if (mismatches.length > 0) return { step: index === 0 ? [] : ['next', index - 1], mismatches };
    }
    return { step: [], mismatches: [] };
  } catch (error) {
    if (error instanceof SettingsRefused) throw error;
    // Other cases can still run.
    const message = `the case could not be run: ${messageOf(error)}`;
    return { step: [], mismatches: [{ path: [], message }] };
  }
}

/** Reads the captures of a case. Each case has its own, because equal calls take turns. Undefined: it names none. */
async function replaysOf(testCase: FullCase, file: string, files: SettingsFiles): Promise<ReadReplay | undefined> {
  const names = new Set(
    requestsOf(testCase).flatMap(({ upstream = [] }) => (isReplay(upstream) ? upstream.replay : [])),
  );
  if (names.size === 0) return undefined;
  const read = partOf('readRecordings');
  if (!read) throw new Error('this build has no add-on captures');
  const found = new Map<string, Recordings>();
  for (const name of names) {
    const path = join(dirname(file), name);
    const text = await files.read(path, MAX_CAPTURE_BYTES);
    if (!('text' in text)) throw new Error(`${path} ${'problem' in text ? text.problem : 'is missing'}`);
    found.set(name, await read(text.text, path));
  }
  return ({ replay }) => found.get(replay)!;
}

/** A capture has at most 16 MiB, and base64 makes more of bytes that are no text. */
const MAX_CAPTURE_BYTES = 32 * 1024 * 1024;

const NOT_MADE = 'the request was not sent: the previous one did not end';
