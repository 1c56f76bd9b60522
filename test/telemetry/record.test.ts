import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { ATTEMPT_FIELDS, SKIP_FIELDS } from '../../src/core/record/fields/attempt-fields.ts';
import { REQUEST_FIELDS } from '../../src/core/record/fields/request-fields.ts';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import {
  entriesFor,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** What a request is measured by, as all three tell it. */
interface Measured {
  readonly status: number;
  readonly error: string;
  readonly cache: string;
  readonly stream: boolean;
  /** `provider error_type` of each attempt. */
  readonly attempts: readonly string[];
  readonly retries: number;
  readonly fallbacks: number;
  readonly rejected: boolean;
  readonly left: string;
  readonly output: number;
  readonly lost: number;
}

interface Attempt {
  readonly provider?: string;
  readonly outcome: string;
  readonly answered?: true;
  readonly failure?: { readonly code: string; readonly type: string };
  readonly tokens?: { readonly output: number };
  readonly losses?: readonly string[];
  readonly tries: readonly unknown[];
}

interface RecordJson {
  readonly state: string;
  readonly status: number;
  readonly outcome_status: number;
  readonly duration_ms: number;
  readonly bytes_out: number;
  readonly error?: { readonly code: string; readonly type: string };
  readonly cache?: string;
  readonly stream: boolean;
  readonly retries: number;
  readonly rejected?: string;
  readonly client_left?: string;
  readonly attempts: readonly Attempt[];
}

interface Line {
  readonly request_id?: string;
  readonly status: number;
  readonly duration_ms: number;
  readonly bytes_out: number;
  readonly error_code?: string;
  readonly error_type?: string;
  readonly cache?: string;
  readonly stream: boolean;
  readonly retries?: number;
  readonly attempts?: readonly { readonly provider?: string; readonly tries: number; readonly error_code?: string }[];
  readonly losses?: readonly string[];
  readonly tokens?: { readonly output: number };
}

interface Case {
  readonly name: string;
  /** By the model that is asked. */
  readonly script: Script;
  readonly body?: object;
  readonly config?: string;
  readonly key?: string;
  /** The client leaves when this has come. */
  readonly leavesAfter?: 'headers' | 'content';
  /** Asked once before, which does not count. */
  readonly before?: boolean;
  readonly expected: Partial<Measured> & { readonly state: string; readonly code?: string };
}

const stream = { stream: true, stream_options: { include_usage: true } };
const usage = { ...openaiChunk({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } };
const whole = [openaiChunk({ content: 'a' }), openaiChunk({}, 'stop'), usage, 'data: [DONE]\n\n'];
const busyAtFirst: Script = (request, res) =>
  request.json['model'] === 'first' ? json(res, {}, 503) : json(res, openaiReply('hi'));
let timesBusy = 0;

const CASES: readonly Case[] = [
  {
    name: 'a plain answer',
    script: (_, res) => json(res, openaiReply('hi')),
    expected: { state: 'complete', status: 200, attempts: ['openai '], output: 2 },
  },
  {
    name: 'a stream',
    script: (_, res) => sse(res, whole),
    body: stream,
    expected: { state: 'complete', status: 200, stream: true, attempts: ['openai '], output: 2 },
  },
  {
    name: 'an answer after a retry',
    script: (_, res) => ((timesBusy += 1) === 1 ? json(res, {}, 503) : json(res, openaiReply('hi'))),
    config: 'retry',
    expected: { state: 'complete', status: 200, attempts: ['openai '], retries: 1 },
  },
  {
    name: 'an answer after a fallback',
    script: busyAtFirst,
    config: 'fallback',
    expected: { state: 'complete', status: 200, attempts: ['openai overloaded', 'other '], fallbacks: 1 },
  },
  {
    name: 'a fallback that fails too',
    script: (_, res) => json(res, {}, 503),
    config: 'fallback',
    expected: {
      state: 'failed',
      status: 503,
      code: 'overloaded',
      error: 'overloaded',
      attempts: ['openai overloaded', 'other overloaded'],
    },
  },
  {
    name: 'a stream that is cut',
    script: (_, res) => sse(res, [openaiChunk({ content: 'a' }), null]),
    body: stream,
    expected: { state: 'failed', status: 502, error: 'network', stream: true, attempts: ['openai network'] },
  },
  {
    name: 'a client that leaves a stream',
    script: (_, res) => sse(res, [openaiChunk({ content: 'a' })], false),
    body: stream,
    leavesAfter: 'content',
    expected: {
      state: 'aborted',
      status: 499,
      error: 'client_disconnected',
      left: 'streaming',
      attempts: ['openai client_disconnected'],
    },
  },
  {
    name: 'a caller without a key',
    script: (_, res) => json(res, openaiReply('never')),
    key: 'wrong',
    expected: { state: 'failed', status: 401, error: 'auth', rejected: true, attempts: [] },
  },
  {
    name: 'an unknown provider',
    script: (_, res) => json(res, openaiReply('never')),
    body: { model: '@nobody/m' },
    expected: { state: 'failed', status: 400, rejected: true },
  },
  {
    name: 'an answer from the cache',
    script: (_, res) => json(res, openaiReply('hi')),
    config: 'cached',
    before: true,
    expected: { state: 'complete', status: 200, cache: 'hit', output: 0 },
  },
  {
    name: 'parameters that are lost',
    script: (_, res) =>
      json(res, {
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [{ type: 'text', text: 'hi' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 3, output_tokens: 2 },
      }),
    body: { model: '@claude/claude-sonnet-4-5', max_tokens: 5, seed: 1, logit_bias: { 1: 1 } },
    expected: { state: 'complete', status: 200, lost: 2 },
  },
];

let upstream: ScriptedUpstream;
let script: Script;
beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => script(request, res, index));
});
afterAll(() => upstream.close());
let gateway: TestGateway | undefined;
afterEach(() => gateway?.close());

async function start(): Promise<TestGateway> {
  const entries = entriesFor(upstream.url);
  const other = { ...entries[0]!, slug: 'other' };
  gateway = await startTestGateway({
    catalog: { providers: [...entries, other] },
    gateway: {
      retry: { provider: '@openai', retry: { attempts: 1, min_delay: 1 } },
      cached: { provider: '@openai', cache: { mode: 'simple' } },
      fallback: {
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@openai', override_params: { model: 'first' } },
          { provider: '@other', override_params: { model: 'second' } },
        ],
      },
    },
  });
  return gateway;
}

async function send(url: string, { body, config, key = KEY, leavesAfter }: Case): Promise<void> {
  const leaving = new AbortController();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    signal: leaving.signal,
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': key,
      'x-request-id': 'req-1',
      ...(config !== undefined && { 'x-gateway-config': config }),
    },
    body: JSON.stringify({ model: config ? 'm' : '@openai/m', messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
  if (leavesAfter === undefined) return void (await response.text());
  await response.body!.getReader().read();
  leaving.abort();
}

function ofRecord(record: RecordJson): Measured {
  return {
    status: record.outcome_status,
    error: record.error?.type ?? '',
    cache: record.cache ?? '',
    stream: record.stream,
    attempts: record.attempts
      .filter(({ tries }) => tries.length > 0)
      .map(({ provider, failure }) => `${provider} ${failure?.type ?? ''}`),
    retries: record.retries,
    fallbacks: Math.max(0, record.attempts.length - 1),
    rejected: record.rejected !== undefined,
    left: record.client_left ?? '',
    output: record.attempts.reduce((sum, { tokens, answered }) => sum + (answered ? (tokens?.output ?? 0) : 0), 0),
    lost: record.attempts.reduce((sum, { losses }) => sum + (losses?.length ?? 0), 0),
  };
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function ofMetrics(text: string): Measured {
  const samples = (name: string): Sample[] =>
    [...text.matchAll(new RegExp(`^gatehouse_${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))]
      .map(([, labels = '', value]) => ({
        labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key!, text!])),
        value: Number(value),
      }))
      .filter(({ value }) => value > 0);
  const total = (list: readonly Sample[]): number => list.reduce((sum, { value }) => sum + value, 0);
  const requests = samples('requests_total');
  expect(total(requests)).toBe(1);
  const [{ labels }] = requests as [Sample];
  return {
    status: Number(labels['status_class']![0]) * 100,
    error: '',
    cache: labels['cache']!,
    stream: labels['stream'] === 'true',
    attempts: samples('upstream_attempts_total').map(({ labels: of }) => `${of['provider']} ${of['error_type']}`),
    retries: total(samples('upstream_retries_total')),
    fallbacks: total(samples('fallbacks_total')),
    rejected: total(samples('requests_rejected_total')) > 0,
    left: samples('client_disconnects_total')[0]?.labels['stage'] ?? '',
    output: total(samples('tokens_total').filter(({ labels: of }) => of['type'] === 'output')),
    lost: total(samples('params_lost_total')),
  };
}

const linesOf = (): Line[] => (gateway!.logs as unknown as Line[]).filter((line) => line.request_id === 'req-1');

async function sendAndWait(url: string, one: Case, lines: number): Promise<void> {
  await send(url, one);
  await until(() => linesOf().length === lines, 'the request is logged');
}

function expectSame(line: Line, record: RecordJson): void {
  expect(line).toMatchObject({
    status: record.status,
    duration_ms: record.duration_ms,
    bytes_out: record.bytes_out,
    stream: record.stream,
  });
  expect([line.error_code, line.error_type, line.cache]).toEqual([
    record.error?.code,
    record.error?.type,
    record.cache,
  ]);
  expect((line.attempts ?? []).map(({ provider, tries, error_code }) => [provider, tries, error_code])).toEqual(
    record.attempts.map(({ provider, tries, failure }) => [provider, tries.length, failure?.code]),
  );
  expect([line.retries ?? 0, line.losses?.length ?? 0, line.tokens?.output]).toEqual([
    record.retries,
    record.attempts.at(-1)?.losses?.length ?? 0,
    record.attempts.at(-1)?.tokens?.output,
  ]);
}

/** Samples less what they were before. */
function less(text: string, before: string): string {
  const was = new Map(before.split('\n').map((line) => split(line)));
  return text
    .split('\n')
    .map((line) => {
      const [name, value] = split(line);
      return line.startsWith('#') ? line : `${name} ${value - (was.get(name) ?? 0)}`;
    })
    .join('\n');
}

function split(line: string): readonly [string, number] {
  const at = line.lastIndexOf(' ');
  return [line.slice(0, at), Number(line.slice(at + 1))];
}

describe('the record of a request, the metrics and the access line say the same', () => {
  it.each(CASES)('of $name', async (one) => {
    script = one.script;
    timesBusy = 0;
    const { url, gateway: inside } = await start();
    if (one.before) await sendAndWait(url, one, 1);
    const before = one.before ? (await inside.metrics.scrape(undefined)).text : '';
    await sendAndWait(url, one, one.before ? 2 : 1);

    const record = inside.record('req-1') as RecordJson;
    const reported = ofRecord(record);
    const { state, code, ...expected } = one.expected;
    expect({ ...reported, state: record.state }).toMatchObject({ ...expected, state });
    if (code !== undefined) expect(record.error?.code).toBe(code);

    expectSame(linesOf().at(-1)!, record);

    const { text } = await inside.metrics.scrape(undefined);
    const measured = ofMetrics(one.before ? less(text, before) : text);
    expect({ ...measured, attempts: measured.attempts.toSorted() }).toEqual({
      ...reported,
      // Metrics have the class alone.
      status: Math.trunc(reported.status / 100) * 100,
      error: '',
      attempts: reported.attempts.toSorted(),
    });
  });
});

it('docs/operate/records.md documents every field of a record', async () => {
  script = CASES.find(({ name }) => name === 'a fallback that fails too')!.script;
  const { url, gateway: inside } = await start();
  await sendAndWait(url, { ...CASES[0]!, script, config: 'fallback' }, 1);
  const page = readFileSync(packageFile('docs/operate/records.md'), 'utf8');
  const record = inside.record('req-1') as RecordJson;
  const names = [record, ...record.attempts, ...record.attempts.flatMap(({ tries }) => tries as object[])].flatMap(
    (part) => Object.keys(part),
  );
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

it.each([
  ['record', 'docs/operate/records.md', [...REQUEST_FIELDS, ...ATTEMPT_FIELDS, ...SKIP_FIELDS]],
  ['line', 'plugins/telemetry/README.md', REQUEST_FIELDS],
] as const)('each field of the %s is in %s', (output, page, fields) => {
  const text = readFileSync(packageFile(page), 'utf8');
  const names = fields.flatMap((field) => field[output] ?? []);
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});
