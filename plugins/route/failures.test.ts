import { describe, expect, it } from 'vitest';
import type { GatewayFile, Strategy } from '../../schemas/types.generated.ts';
import { FAILURE_KINDS } from '../../src/plugin/failures.ts';
import { UpstreamError, type FailureKind } from '../../src/plugin/index.ts';
import { failureOf, treeOf, walk, type SelectorSetup } from './target-selector.testkit.ts';

const KINDS = Object.keys(FAILURE_KINDS) as readonly FailureKind[];

/** Two targets of different models. */
const pair = (strategy: Partial<Strategy>): GatewayFile => ({
  strategy: { mode: 'fallback', ...strategy },
  targets: [
    { provider: '@a', override_params: { model: 'one' } },
    { provider: '@b', override_params: { model: 'two' } },
  ],
});

async function fallsThrough(strategy: Partial<Strategy>, failure: unknown): Promise<boolean> {
  const walked = await walk(treeOf(pair(strategy)), { failures: { a: failure } });
  // The prediction during the first attempt equals the later behaviour.
  expect(walked.fallsThrough[0]).toBe(walked.tried.length === 2);
  return walked.tried.length === 2;
}

const by = async (strategy: Partial<Strategy>): Promise<FailureKind[]> => {
  const going = await Promise.all(KINDS.map((kind) => fallsThrough(strategy, failureOf(kind))));
  return KINDS.filter((_, index) => going[index]);
};

describe('the kinds of failure that fall through to the next target', () => {
  it.each(KINDS)('by default: %s as in FAILURE_KINDS', async (kind) => {
    expect(await fallsThrough({}, failureOf(kind))).toBe(FAILURE_KINDS[kind].fallsThrough);
  });

  it('by default are those that another upstream may avoid, not those that the caller or the operator has to fix', () => {
    expect(KINDS.filter((kind) => !FAILURE_KINDS[kind].fallsThrough)).toEqual([
      'content_filter',
      'auth',
      'not_found',
      'invalid_request',
      'empty',
      'finish_reason',
    ]);
  });

  it.each<[string, Partial<Strategy>, FailureKind[]]>([
    [
      'on_status_codes alone: these statuses',
      { on_status_codes: [429, 404] },
      ['rate_limit', 'not_found', 'unsupported'],
    ],
    ['on_errors alone: these kinds', { on_errors: ['auth', 'timeout_idle'] }, ['timeout_idle', 'auth', 'unsupported']],
    [
      'both: either',
      { on_status_codes: [409], on_errors: ['content_filter'] },
      ['conflict', 'content_filter', 'unsupported'],
    ],
    [
      '`default` and one more: all of them',
      { on_errors: ['default', 'content_filter'] },
      KINDS.filter((kind) => FAILURE_KINDS[kind].fallsThrough || kind === 'content_filter'),
    ],
    [
      'stop_on_errors: all but these, whatever their status',
      { on_status_codes: [402, 429, 503], stop_on_errors: ['quota'] },
      ['rate_limit', 'overloaded', 'gateway_full', 'unsupported'],
    ],
    [
      'stop_on_errors against on_errors',
      { on_errors: ['auth', 'quota'], stop_on_errors: ['auth', 'unsupported'] },
      ['quota'],
    ],
  ])('are, with %s', async (_, strategy, kinds) => {
    expect(await by(strategy)).toEqual(kinds);
  });

  it('are two for a failure inside a stream: its own kind and stream_error', async () => {
    const inStream = failureOf('overloaded', { inStream: true });
    expect(await fallsThrough({ on_errors: ['stream_error'] }, inStream)).toBe(true);
    expect(await fallsThrough({ on_errors: ['overloaded'] }, inStream)).toBe(true);
    expect(await fallsThrough({ on_errors: ['default'], stop_on_errors: ['stream_error'] }, inStream)).toBe(false);
    expect(await fallsThrough({ on_errors: ['stream_error'] }, failureOf('overloaded'))).toBe(false);
  });

  it('do not include the request’s deadline', async () => {
    expect(await fallsThrough({ on_status_codes: [504] }, new UpstreamError('timeout_request', 'late'))).toBe(false);
  });
});

describe.each<[FailureKind, Partial<Strategy>]>([
  ['context_length', {}],
  ['content_filter', { on_errors: ['default', 'content_filter'] }],
])('after a %s failure', (kind, strategy) => {
  const refused = failureOf(kind);
  const tree = (...models: readonly string[]) =>
    treeOf({
      strategy: { mode: 'fallback', ...strategy },
      targets: models.map((model, index) => ({ provider: `@${index}`, override_params: { model } })),
    });

  it.each([
    ['one', 'one'],
    ['claude-sonnet-4-5', '@vertex/anthropic.claude-sonnet-4-5'],
    ['claude-3-5-haiku@20241022', 'claude-3-5-haiku-20241022'],
    ['google/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['anthropic.claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
    ['gpt-4o', 'gpt-4o-2024-08-06'],
    ['gemini-2.0-flash-001', '@vertex/gemini-2.0-flash'],
    ['claude-3-5-haiku-latest', 'claude-3-5-haiku'],
  ])('the model %s is not asked again as %s', async (first, second) => {
    const walked = await walk(tree(first, second, 'other'), { failures: { 0: refused } });
    expect(walked).toMatchObject({ tried: ['0', '2'], skipped: [['1', 'same_model', 1]], fallsThrough: [true] });
  });

  it.each([
    ['claude-3-5-sonnet-20240620', 'claude-3-5-sonnet-20241022'],
    ['gpt-4o', 'gpt-4o-mini'],
    ['gpt-4', 'gpt-4-0613'],
    ['gemini-2.5-flash', 'gemini-2.5-flash-lite'],
  ])('the model %s is another one than %s', async (first, second) => {
    expect(await walk(tree(first, second), { failures: { 0: refused } })).toMatchObject({ tried: ['0', '1'] });
  });

  it('nor is a model that refused earlier', async () => {
    const walked = await walk(tree('one', 'two', 'one', 'two', 'three'), { failures: { 0: refused, 1: refused } });
    expect(walked.tried).toEqual(['0', '1', '4']);
  });

  it('fallsThrough is false when every other target would refuse as well', async () => {
    const walked = await walk(tree('one', 'one'), { failures: { 0: refused } });
    expect(walked).toMatchObject({ tried: ['0'], fallsThrough: [false], failure: refused });
  });

  it('the model is the request’s when no target names one', async () => {
    const targets = [{ provider: '@a' }, { provider: '@b' }, { provider: '@c', default_params: { model: 'other' } }];
    const file: GatewayFile = { strategy: { mode: 'fallback', ...strategy }, targets };
    const setup: SelectorSetup = { failures: { a: refused, b: refused, c: refused } };
    const walked = await walk(treeOf(file), { ...setup, exchange: { json: { model: 'asked' } } });
    expect(walked.tried).toEqual(['a']);
    expect((await walk(treeOf(file), setup)).tried).toEqual(['a', 'b', 'c']);
  });
});

describe('a prompt that was too long', () => {
  const windows = (...sizes: readonly (number | undefined)[]) =>
    treeOf({
      strategy: { mode: 'fallback', on_errors: ['default', 'content_filter'] },
      targets: sizes.map((size, index) => ({
        provider: `@${index}`,
        override_params: { model: `m${index}` },
        ...(size !== undefined && { context_window: size }),
      })),
    });

  it.each<[string, (number | undefined)[], string[]]>([
    ['to a larger window only, when both declare theirs', [200, 100, 200, 201], ['0', '3']],
    ['when the first does not declare its window', [undefined, 100], ['0', '1']],
    ['when the next does not declare its window', [200, undefined], ['0', '1']],
  ])('goes %s', async (_, sizes, tried) => {
    expect((await walk(windows(...sizes), { failures: { 0: failureOf('context_length') } })).tried).toEqual(tried);
  });

  it('for two models is too long for a model between them', async () => {
    const failures = { 0: failureOf('context_length'), 1: failureOf('context_length') };
    const walked = await walk(windows(100, 300, 200, 400), { failures });
    expect(walked).toMatchObject({ tried: ['0', '1', '3'], skipped: [['2', 'context_window', 2]] });
  });

  it('differs from a filter’s refusal, which does not depend on size', async () => {
    expect((await walk(windows(200, 100), { failures: { 0: failureOf('content_filter') } })).tried).toEqual(['0', '1']);
  });
});
