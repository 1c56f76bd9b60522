import type { ConfigTestStep, TestExpectation } from '../../../schemas/types.generated.ts';
import type { Diagnostic } from '../../settings/problems/diagnostic.ts';
import type { JsonPath } from '../../settings/read/pointer.ts';
import { checkAnswer } from './check-answer.ts';
import { checkMetrics } from './check-metrics.ts';
import { LEFT_OUT } from './client.ts';
import { meant } from './differences.ts';
import type { CaseFinding } from './finding.ts';
import type { Names } from './names.ts';
import { NO_CONFIG, type TestFile } from './read-tests.ts';
import type { FullCase } from './case-requests.ts';

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
  ...checkMetrics(step.expect, names),
  ...(step.upstream ?? []).flatMap(checkAnswer),
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
function checkNotCompared({ headers, outbound }: TestExpectation): readonly CaseFinding[] {
  const calls = [outbound ?? []].flat();
  const at = (index: number): JsonPath => (Array.isArray(outbound) ? ['outbound', index] : ['outbound']);
  return [
    ...notCompared(headers, LEFT_OUT, []),
    ...calls.flatMap((call, index) => notCompared(call.headers, NOT_SENT, at(index))),
  ];
}

const notCompared = (headers: object | undefined, left: ReadonlySet<string>, path: JsonPath): readonly CaseFinding[] =>
  Object.keys(headers ?? {})
    .filter((name) => left.has(name.toLowerCase()))
    .map((name) => ({
      path: ['expect', ...path, 'headers', name],
      on: 'key',
      message: `\`${name}\` belongs to the connection and cannot be expected`,
    }));
