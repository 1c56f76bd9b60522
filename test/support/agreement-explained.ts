import { expect } from 'vitest';
import type { Explanation, FieldSource, TargetExplanation } from '../../src/addons/explain/explanation/explanation.ts';
import type { Observation } from '../../src/addons/explain/explain/observation.ts';
import { FAKE_TOKEN } from '../../src/core/dry-run/fakes.ts';
import type { ReadPlaces } from '../../src/core/settings/source/files.ts';
import { firstByteOf } from '../../src/core/kernel/timeouts.ts';
import type { SaidAttempt, Served } from './agreement-served.ts';
import { bodyDiff } from '../../src/addons/explain/explanation/body-diff.ts';
import { isObject } from '../../src/formats/json/object.ts';

/** A larger one is explained in hundreds of milliseconds. */
const MAX_TOLD_BYTES = 64 * 1024;
/** Per gateway: hundreds of similar requests of a test get the same explanation. */
const MAX_TOLD = 60;

/**
 * Requests that differ only in their ids are explained once; large ones, and those beyond `MAX_TOLD`, are not.
 * @param known the requests explained before, with the same settings
 */
export function isNews({ said, question }: Served, known: Set<string>): boolean {
  const { id = '', path, headers, body } = question;
  if (body.length > MAX_TOLD_BYTES || known.size >= MAX_TOLD) return false;
  const likeness = JSON.stringify([said, path, headers, body.toString('latin1')]).replaceAll(id, '');
  if (known.has(likeness)) return false;
  known.add(likeness);
  return true;
}

export interface DescribedOf {
  readonly seen: Observation;
  readonly served: Served;
  /** The files that were explained from. */
  readonly places: ReadPlaces;
}

/** What explain tells of a request that was served, against what was served. */
export function expectReported(explanation: Explanation, { seen, served, places }: DescribedOf): void {
  const { said } = served;
  expectSame(reportOf(explanation, served), saidAs(served));
  const received = seen.exchange.request.body && parsed(seen.exchange.request.body.original.toString());
  explanation.targets.slice(0, said.attempts.length).forEach((target, number) => {
    const attempt = said.attempts[number]!;
    if (!attempt.unknown && !attempt.fetched) expectTarget(target, attempt, received);
  });
  expectSources(explanation, places);
  expectNoSecrets(explanation, seen);
}

const ranOf = ({ plugins }: Explanation, target: number | undefined): readonly string[] =>
  plugins
    .filter(({ target: of, state }) => of === target && state !== 'not reached' && state !== 'left out')
    .map(({ chain, name }) => `${chain}:${name}`);

function reportOf(explanation: Explanation, { said, reached }: Served) {
  const { request, caller, config, metadata, labels, deadline, rules, targets } = explanation;
  return {
    request: [request.id, request.method, request.path, request.operation, request.bytes],
    strict: [request.strict, request.strictParams],
    caller: [caller?.key, caller?.ownUpstreamToken ?? false],
    config: config && { id: config.id, hash: config.hash, name: config.name },
    metadata,
    labels,
    deadlineMs: deadline.ms,
    rules: rules.map(({ conditional, to }) => [conditional, to]),
    plugins: reached.map((names, index) =>
      isWhole(said.attempts[index - 1], names) ? ranOf(explanation, index > 0 ? index - 1 : undefined) : [],
    ),
    refused: said.attempts.length === 0 ? explanation.answer?.code : undefined,
    targets: targets.slice(0, said.attempts.length).map(({ target, why, number }) => ({ target, why, number })),
  };
}

/** A reply that was kept ends a chain, whether it can be given or not; explain has none here, and follows the chain to its end. */
const isWhole = (attempt: SaidAttempt | undefined, reached: readonly string[]): boolean =>
  !attempt?.unknown && !attempt?.fetched && reached.at(-1) !== 'attempt:cache';

function saidAs({ said, question, reached }: Served): ReturnType<typeof reportOf> {
  const { method, path, id = '', body } = question;
  return {
    request: [id, method, path.split('?')[0], said.operation, body.length],
    strict: [said.strict, said.strictParams],
    caller: [said.key, said.ownUpstreamToken],
    config: said.config,
    metadata: said.metadata,
    labels: said.labels,
    deadlineMs: said.deadlineMs,
    rules: said.conditions.map(({ at, to }) => [at, to]),
    plugins: reached.map((names, index) => (isWhole(said.attempts[index - 1], names) ? names : [])),
    refused: said.refused,
    targets: said.attempts.map(({ target, why }, number) => ({ target, why, number })),
  };
}

function expectTarget(
  reported: TargetExplanation,
  { outbound, losses, refused }: SaidAttempt,
  received: unknown,
): void {
  expectSame([reported.losses, reported.refused?.code], [losses, refused]);
  if (!outbound) return;
  const { method, url, headers, body, stream, calls, diff } = reported.outbound!;
  const [first = ''] = outbound.bodies;
  const credentials = headers.filter(({ value }) => CREDENTIAL.test(value)).map(({ name }) => name);
  const open = (all: readonly (readonly [string, string])[]) => all.filter(([name]) => !credentials.includes(name));
  expectSame(
    {
      call: [method, url, stream, calls],
      headers: open(headers.map(({ name, value }) => [name, value])),
      timeouts: Object.values(reported.timeouts).map(({ ms }) => ms),
      body,
      view: reported.body,
    },
    {
      call: [outbound.method, outbound.url, outbound.stream, outbound.bodies.length],
      headers: open(Object.entries(outbound.headers)),
      timeouts: timesOf(outbound),
      body: parsed(first),
      view: outbound.view,
    },
  );
  // A masked name is another name.
  if (!JSON.stringify(reported).includes(SECRET))
    expect(diff.map(({ path }) => path)).toEqual(bodyDiff(received, parsed(first)).map(({ path }) => path.join('.')));
}

const timesOf = ({ stream, timeouts }: NonNullable<SaidAttempt['outbound']>): readonly number[] => {
  const { connect, firstContent, idle, total } = timeouts;
  return [connect, firstByteOf(stream, timeouts), firstContent, idle, total];
};
const SECRET = '[secret]';
const CREDENTIAL = /^(?:(?:Bearer|Basic) )?\[secret\]$/i;

/** As JSON, where a text in which something is concealed is what it conceals. */
function expectSame(reported: unknown, served: unknown): void {
  const plain = asJson(reported);
  expect(plain).toEqual(concealedAs(plain, asJson(served)));
}

/** Numbers of many digits are objects that only `JSON.stringify` reads. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify([value])) as unknown;

function concealedAs(reported: unknown, served: unknown): unknown {
  if (typeof reported === 'string' && typeof served === 'string' && reported.includes(SECRET)) {
    const pattern = reported.split(SECRET).map((part) => RegExp.escape(part));
    return new RegExp(`^${pattern.join('[^]+')}$`).test(served) ? reported : served;
  }
  if (Array.isArray(reported) && Array.isArray(served))
    return served.map((one, index) => concealedAs(reported[index], one));
  if (!isObject(reported) || !isObject(served)) return served;
  return Object.fromEntries(Object.entries(served).map(([name, one]) => [name, concealedAs(reported[name], one)]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Every source names a place whose text matches. */
function expectSources(reported: unknown, places: ReadPlaces): void {
  if (Array.isArray(reported)) return reported.forEach((one) => expectSources(one, places));
  if (!isObject(reported)) return;
  if (reported['kind'] === 'settings') expectPlace(reported as unknown as SettingsSource, places);
  // What a client or a config says may look like a source, too.
  for (const [name, one] of Object.entries(reported)) if (!FOREIGN.has(name)) expectSources(one, places);
}

type SettingsSource = Extract<FieldSource, { readonly kind: 'settings' }>;
const FOREIGN = new Set(['body', 'metadata', 'labels', 'details', 'parts', 'value', 'was', 'wanted', 'found']);

function expectPlace({ at, setting }: SettingsSource, { files }: ReadPlaces): void {
  const read = files.get(at.file);
  const lines = read && 'text' in read ? read.text.split('\n') : [];
  const there = lines[at.line - 1]?.slice(at.column - 1) ?? '';
  const key = /[^.]*$/.exec(setting)?.[0] ?? '';
  const written = /^["']?([\w-]*)/.exec(there)?.[1] ?? '';
  const isItem = /^\d+$/.test(key);
  const agrees = isItem ? /^[^\s,\]}]/.test(there) : spelled(written) === spelled(key);
  expect(
    agrees ? undefined : `${at.file}:${at.line}:${at.column} is not ${setting}: ${there.slice(0, 60)}`,
  ).toBeUndefined();
}

const spelled = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

/** Shorter ones may be words. */
const SHORTEST = 8;

function expectNoSecrets(explanation: Explanation, { exchange, attempts }: Observation): void {
  const text = JSON.stringify(explanation);
  const { headers } = exchange.request;
  const given = [exchange.request.header('api-key'), headers.authorization, headers['x-api-key']].flatMap((one) => one);
  const sent = attempts.flatMap(({ outbound, calls: [call] }) =>
    Object.entries(call?.request.headers ?? {}).flatMap(([name, value]) =>
      outbound?.headers[name] === value ? [] : value,
    ),
  );
  const secrets = [...given, ...sent].map((value) => value?.replace(/^(?:Bearer|Basic) /i, '') ?? '');
  const reported = secrets.filter(
    (secret) => secret.length >= SHORTEST && secret !== FAKE_TOKEN && text.includes(secret),
  );
  expect(reported).toEqual([]);
}
