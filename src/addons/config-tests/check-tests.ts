import type { ConfigTestStep, TestExpectation, TestAnswer } from '../../../schemas/types.generated.ts';
import type { Diagnostic } from '../../core/settings/source/diagnostic.ts';
import type { JsonPath } from '../../core/settings/schema/pointer.ts';
import { listedAnswers } from './answers.ts';
import { LEFT_OUT } from './client.ts';
import { meant } from './differences.ts';
import { type Names, namesIn } from './names.ts';
import { NO_CONFIG, type TestFile, readTests } from './read-tests.ts';
import type { FullCase } from './case-requests.ts';
import { alternatives } from '../../core/settings/values/show.ts';
import { METADATA_LABEL } from '../../core/settings/compile/metadata-labels.ts';
import { labelsOf, type MetricSpec } from '../../core/record/metrics/metric-spec.ts';
import { allMetrics } from '../../core/record/metrics/metrics.ts';
import { diskFiles, type SettingsFiles } from '../../core/settings/source/files.ts';
import type { LoadResult, Settings } from '../../core/settings/read/load.ts';

/** Checks beyond the schema: unknown names, contradictory answers. */
export function checkTests(file: TestFile, names: Names): readonly Diagnostic[] {
  const seen = new Set<string>();
  return [
    ...checkOwnConfig(file, names),
    ...checkEnv(file, names),
    ...file.cases.flatMap((one, index) => {
      const findings = [
        ...(seen.has(one.name) ? [twice(one)] : []),
        ...checkConfig(one, names),
        ...checkMoment(one),
        ...checkRequest(one, one, names),
        ...(one.next ?? []).flatMap((step, at) =>
          checkRequest(step, one, names).map((finding) => ({ ...finding, path: ['next', at, ...finding.path] })),
        ),
      ];
      seen.add(one.name);
      return findings.map((finding) => diagnosticOf(finding, { file, index }));
    }),
  ];
}

function diagnosticOf(
  finding: CaseFinding,
  { file, index }: { readonly file: TestFile; readonly index: number },
): Diagnostic {
  const { path, on, severity = 'error', message, suggestion } = finding;
  const place = file.placeOf(['cases', index, ...path], on);
  return { ...place, severity, message, ...(suggestion === undefined ? {} : { suggestion }) };
}

/** Reported once, because it concerns every case of the file. */
function checkOwnConfig(file: TestFile, { configIds }: Names): readonly Diagnostic[] {
  const index = configIds.includes(file.id) ? -1 : file.cases.findIndex(({ config }) => config === undefined);
  if (index === -1) return [];
  const message = `there is no gateway/${file.id}.yaml for these tests; give each case a \`config\` (\`${NO_CONFIG}\`: the request names none)`;
  return [diagnosticOf({ path: ['name'], message, ...meant(file.id, configIds) }, { file, index })];
}

/** Only a warning: a plugin may read a variable to which no file refers. */
const checkEnv = ({ env, placeOf }: TestFile, { variables }: Names): readonly Diagnostic[] =>
  Object.keys(env)
    .filter((name) => !variables.includes(name))
    .map((name) => ({
      ...placeOf(['env', name], 'key'),
      severity: 'warning',
      message: `no file of the settings refers to \`\${env:${name}}\``,
      ...meant(name, variables),
    }));

const twice = ({ name }: FullCase): CaseFinding => ({
  path: ['name'],
  message: `there are two cases with the name ${JSON.stringify(name)}`,
  severity: 'warning',
});

function checkConfig({ config }: FullCase, { configIds }: Names): readonly CaseFinding[] {
  if (config === undefined || config === NO_CONFIG || configIds.includes(config)) return [];
  return [
    { path: ['config'], message: `there is no gateway/${config}.yaml`, ...meant(config, [...configIds, NO_CONFIG]) },
  ];
}

/** RFC 3339 allows a sixtieth second, which Date does not. */
const checkMoment = ({ at }: FullCase): readonly CaseFinding[] =>
  at !== undefined && Number.isNaN(Date.parse(at)) ? [{ path: ['at'], message: `${at} is not a valid time` }] : [];

/** Checks one request: the case's first, or a later one. */
const checkRequest = (step: FullCase | ConfigTestStep, testCase: FullCase, names: Names): readonly CaseFinding[] => [
  ...checkHeaders(step, testCase, names),
  ...checkKey(step, names),
  ...checkTargets(step, testCase, names),
  ...checkNotCompared(step.expect),
  ...checkMetrics(step.expect),
  ...(listedAnswers(step.upstream) ?? []).flatMap(checkAnswer),
];

function checkHeaders(
  { headers = {} }: ConfigTestStep,
  { config }: FullCase,
  { configHeaders }: Names,
): readonly CaseFinding[] {
  const header = Object.keys(headers).find((name) => configHeaders.includes(name.toLowerCase()));
  if (header === undefined || config === NO_CONFIG) return [];
  const message = `choose the config with \`config: NAME\`; for a config in a header use \`config: ${NO_CONFIG}\``;
  return [{ path: ['headers', header], on: 'key', message }];
}

function checkKey({ key }: ConfigTestStep, { keyIds }: Names): readonly CaseFinding[] {
  if (key === undefined || keyIds.includes(key)) return [];
  return [{ path: ['key'], message: `there is no key with the id \`${key}\``, ...meant(key, keyIds) }];
}

/** With an inline config or none, only catalog entries are known names. */
function checkTargets({ expect }: ConfigTestStep, { configId }: FullCase, names: Names): readonly CaseFinding[] {
  const targets = configId === undefined ? undefined : names.targetsOf(configId);
  const named: readonly (readonly [JsonPath, string])[] = [
    ...(expect.target === undefined ? [] : [[['target'], expect.target] as const]),
    ...(Array.isArray(expect.attempts) ? expect.attempts : []).map(
      (name, index) => [['attempts', index], name] as const,
    ),
  ];
  return named.flatMap(([path, name]) => {
    const known = [...(targets ?? []), ...names.slugs];
    // A config without known targets has a wrong id, which is reported elsewhere.
    if (known.includes(name) || (!name.startsWith('@') && !targets?.length)) return [];
    const where = name.startsWith('@') ? `catalog entry ${name}` : `target \`${name}\` in the config`;
    return [{ path: ['expect', ...path], message: `there is no ${where}`, ...meant(name, known) }];
  });
}

/** Headers that the connection adds to a call. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'transfer-encoding',
]);

/** Headers that are not compared: an expectation that they are absent would always hold. */
const checkNotCompared = ({ headers, outbound, embeddings }: TestExpectation): readonly CaseFinding[] => [
  ...notCompared(headers, LEFT_OUT, []),
  ...Object.entries({ outbound, embeddings }).flatMap(([key, expected]) =>
    [expected ?? []]
      .flat()
      .flatMap((call, index) => notCompared(call.headers, NOT_SENT, Array.isArray(expected) ? [key, index] : [key])),
  ),
];

const notCompared = (headers: object | undefined, left: ReadonlySet<string>, path: JsonPath): readonly CaseFinding[] =>
  Object.keys(headers ?? {})
    .filter((name) => left.has(name.toLowerCase()))
    .map((name) => ({
      path: ['expect', ...path, 'headers', name],
      on: 'key',
      message: `\`${name}\` belongs to the connection and cannot be expected`,
    }));

interface CaseFinding {
  readonly path: JsonPath;
  readonly message: string;
  readonly on?: 'key';
  readonly severity?: Diagnostic['severity'];
  readonly suggestion?: string;
}

const CONTENTS = ['answer', 'body', 'stream'] as const;
/** Faults that end a call before the upstream replies. */
const WITHOUT_REPLY: ReadonlySet<string> = new Set(['refuse', 'reset', 'hang', 'garbage']);

/** Checks an answer for parts that would never be sent, because its case would not test what it seems to. */
function checkAnswer(answer: TestAnswer, index: number): readonly CaseFinding[] {
  const at = (key: keyof TestAnswer, message: string): readonly CaseFinding[] => [
    { path: ['upstream', index, key] satisfies JsonPath, on: 'key', message },
  ];
  const given = CONTENTS.filter((name) => answer[name] !== undefined);
  const [, second] = given;
  if (second !== undefined) return at(second, `give only one of ${quoted(CONTENTS)}`);
  const { fault, status = 200 } = answer;
  const idle = [...given, ...(['status', 'headers'] as const).filter((name) => answer[name] !== undefined)][0];
  if (idle !== undefined && isWithoutReply(answer))
    return at(idle, `\`${idle}\` is never sent with \`fault: ${fault}\``);
  if (answer.answer !== undefined && !hasGoodAnswer(answer))
    return at(
      'answer',
      `\`answer\` cannot be combined with \`status: ${status}\`: give a \`body\`, or only the status`,
    );
  if (answer.delay !== undefined && fault === 'hang')
    return at('delay', '`fault: hang` never replies, so it cannot be late');
  const mayPause = answer.stream !== undefined || (hasGoodAnswer(answer) && !isWithoutReply(answer));
  if (answer.pause === undefined || mayPause) return [];
  return at('pause', 'only a stream can have a `pause`; use `delay` for a late reply');
}

const isWithoutReply = ({ fault }: TestAnswer): boolean => fault !== undefined && WITHOUT_REPLY.has(fault);

/** Whether a successful answer is generated in the upstream's API. */
const hasGoodAnswer = ({ body, stream, status = 200 }: TestAnswer): boolean =>
  body === undefined && stream === undefined && status < 300 && status !== 204;

const quoted = (names: readonly string[]): string => alternatives(names.map((name) => `\`${name}\``));

/** Checks the expected counters. An unknown counter is always 0, so that `value: 0` of it would hold. */
const checkMetrics = ({ metrics = [] }: TestExpectation): readonly CaseFinding[] =>
  metrics.flatMap(({ name, labels = {} }, index): readonly CaseFinding[] => {
    const path = ['expect', 'metrics', index];
    const spec = Object.values(allMetrics()).find((one) => one.name === name);
    if (spec?.type !== 'counter') return [{ path: [...path, 'name'], ...noCounter(name, spec) }];
    return Object.keys(labels).flatMap((label): readonly CaseFinding[] => {
      if (labelsOf(spec).includes(label) || (spec.byCaller && label.startsWith(METADATA_LABEL))) return [];
      const message = `\`${name}\` has no label \`${label}\``;
      return [{ path: [...path, 'labels', label], on: 'key', message, ...meant(label, labelsOf(spec)) }];
    });
  });

function noCounter(name: string, spec: MetricSpec | undefined): Omit<CaseFinding, 'path'> {
  if (spec) return { message: `\`${name}\` is a ${spec.type}: only counters can be expected` };
  const known = Object.values(allMetrics()).flatMap((one) => (one.type === 'counter' ? [one.name] : []));
  return { message: `there is no counter \`${name}\``, ...meant(name, known) };
}

/** A pass of `gatehouse validate`: reads the tests next to the settings without running them. */
export async function validateTests(
  settings: Settings,
  loaded: LoadResult,
  files: SettingsFiles = diskFiles,
): Promise<void> {
  const tests = await readTests(loaded.folder, files);
  const names = await namesIn(settings, files);
  loaded.add([...tests.diagnostics, ...tests.files.flatMap((file) => checkTests(file, names))]);
}
