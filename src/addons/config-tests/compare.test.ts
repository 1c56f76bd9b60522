import { describe, expect, test } from 'vitest';
import type { TestExpectation } from '../../../schemas/types.generated.ts';
import { compare } from './compare.ts';
import { differences } from './differences.ts';
import type { CaseCall } from './calls.ts';
import type { AttemptOutcome, CaseOutcome } from './outcome.ts';

const call = (body: unknown, url = 'https://api.example.com/v1/chat'): CaseCall => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', authorization: '[secret]' },
  body,
});

const FIRST: AttemptOutcome = {
  target: 'config.targets[0]',
  name: 'first',
  provider: '@vertex',
  outbound: call({ model: 'gemini', max_tokens: 9 }),
  error: 'rate_limited',
};
const SECOND: AttemptOutcome = {
  target: 'config.targets[1]',
  name: undefined,
  provider: '@claude',
  outbound: call({ model: 'claude', max_tokens: 512, stop: null }, 'https://api.anthropic.com/v1/messages'),
  error: undefined,
};

const REPLY = { choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] };

const OUTCOME: CaseOutcome = {
  attempts: [FIRST, SECOND],
  calls: [FIRST.outbound!, SECOND.outbound!],
  status: 200,
  headers: { 'x-gateway-provider': 'anthropic' },
  text: JSON.stringify(REPLY),
  stream: undefined,
  dropped: ['seed', 'top_k'],
  embeddings: [call({ input: ['Hello'] }, 'https://api.example.com/v1/embeddings')],
  metrics: [
    { name: 'gatehouse_fallbacks_total', labels: { reason: 'rate_limited', config: 'prod' }, value: 1 },
    { name: 'gatehouse_tokens_total', labels: { type: 'input' }, value: 3 },
    { name: 'gatehouse_tokens_total', labels: { type: 'output' }, value: 4 },
  ],
  faults: [],
};

const REFUSED: CaseOutcome = {
  ...OUTCOME,
  attempts: [],
  calls: [],
  status: 400,
  headers: {},
  text: '{"error":{"message":"No model."}}',
  dropped: [],
  embeddings: [],
  metrics: [],
};

const STREAM = {
  events: [{ n: 1 }, { n: 2, delta: 'Hel' }, { n: 3, delta: 'lo' }],
  text: 'Hello',
  ends: 'complete',
} as const;
const STREAMED: CaseOutcome = { ...OUTCOME, stream: STREAM };

describe('a met expectation', () => {
  test.each<[string, TestExpectation, CaseOutcome?]>([
    ['the target by its path', { target: 'config.targets[1]' }],
    ['the target by its slug', { target: '@claude' }],
    ['the target by its name', { target: 'first' }, { ...OUTCOME, attempts: [{ ...FIRST, error: undefined }] }],
    [
      'a target that broke after its reply had begun',
      { target: '@claude' },
      { ...STREAMED, attempts: [{ ...SECOND, error: 'upstream_disconnected' }] },
    ],
    ['the number of attempts', { attempts: 2 }],
    ['the tried targets', { attempts: ['first', '@claude'] }],
    ['no attempt', { attempts: [] }, { ...OUTCOME, attempts: [] }],
    ['the request to the last target', { outbound: { body: { max_tokens: 512 } } }],
    [
      'the request to a target before a rejected one',
      { outbound: { body: { model: 'gemini' } } },
      { ...OUTCOME, attempts: [FIRST, { ...SECOND, outbound: undefined }] },
    ],
    ['the request to each target', { outbound: [{ body: { max_tokens: 9 } }, { method: 'post' }] }],
    ['an address', { outbound: { url: 'https://api.anthropic.com/v1/messages' } }],
    ['a URL with wildcards', { outbound: { url: 'https://*/messages' } }],
    ['a header in other case', { outbound: { headers: { 'Content-Type': 'application/json', cookie: null } } }],
    ['a field that is null or missing', { outbound: { body: { stop: null, seed: null } } }],
    ['the status', { status: 200 }],
    ['headers of the reply', { headers: { 'X-Gateway-Provider': 'anthropic', 'retry-after': null } }],
    ['a header of any text', { headers: { 'x-gateway-provider': '*' } }],
    ['a header with a prefix', { headers: { 'x-gateway-provider': 'anth*' } }],
    ['fields of the body', { body: { choices: [{ message: { content: 'Hello' } }] } }],
    ['the whole body', { body: JSON.stringify(REPLY) }],
    ['text of a stream', { stream: { text: 'Hello', ends: 'complete' } }, STREAMED],
    ['events with others between them', { stream: { events: [{ n: 1 }, { delta: 'lo' }] } }, STREAMED],
    ['dropped parameters in any order', { dropped: ['top_k', 'seed'] }],
    ['no dropped parameter', { dropped: [] }, { ...OUTCOME, dropped: [] }],
    ['the call for vectors', { embeddings: { url: '*/embeddings', body: { input: ['Hello'] } } }],
    ['all calls for vectors', { embeddings: [{ method: 'POST' }] }],
    ['no call for vectors', { embeddings: [] }, { ...OUTCOME, embeddings: [] }],
    ['a counter', { metrics: [{ name: 'gatehouse_fallbacks_total' }] }],
    [
      'a counter with some of its labels',
      { metrics: [{ name: 'gatehouse_fallbacks_total', labels: { reason: 'rate_limited' } }] },
    ],
    [
      'a counter with its increment',
      { metrics: [{ name: 'gatehouse_tokens_total', labels: { type: 'output' }, value: 4 }] },
    ],
    ['the sum of all matching series', { metrics: [{ name: 'gatehouse_tokens_total', value: 7 }] }],
    ['a counter without increment', { metrics: [{ name: 'gatehouse_retries_total', value: 0 }] }],
  ])('%s', (_, expected, outcome = OUTCOME) => {
    expect(compare(expected, outcome)).toEqual([]);
  });
});

describe('a mismatch is reported:', () => {
  const ATTEMPTS = 'config.targets[0] (first, @vertex: rate_limited), config.targets[1] (@claude)';

  test.each<[string, TestExpectation, object, CaseOutcome?]>([
    [
      'another target',
      { target: 'first' },
      { path: ['target'], expected: 'first', got: 'config.targets[1] (@claude)' },
    ],
    [
      'no target at all',
      { target: 'first' },
      { path: ['target'], got: 'no target; tried config.targets[0] (first, @vertex: rate_limited)' },
      { ...OUTCOME, status: 429, attempts: [FIRST] },
    ],
    ['another number of attempts', { attempts: 1 }, { path: ['attempts'], expected: '1', got: `2: ${ATTEMPTS}` }],
    ['fewer names than attempts', { attempts: ['first'] }, { path: ['attempts'], expected: 'first', got: ATTEMPTS }],
    [
      'another target in its place',
      { attempts: ['@claude', '@claude'] },
      { path: ['attempts', 0], expected: '@claude' },
    ],
    [
      'a field at its place',
      { outbound: { body: { max_tokens: 1024 } } },
      { path: ['outbound', 'body', 'max_tokens'], expected: '1024', got: '512' },
    ],
    [
      'a misspelt field',
      { outbound: { body: { max_token: 512 } } },
      { path: ['outbound', 'body', 'max_token'], got: 'nothing', suggestion: 'max_tokens' },
    ],
    [
      'a field that should not be there',
      { outbound: { body: { model: null } } },
      { expected: 'null', got: '"claude"' },
    ],
    [
      'a field of the first of several',
      { outbound: [{ body: { model: 'gpt' } }, {}] },
      { path: ['outbound', 0, 'body', 'model'], expected: '"gpt"', got: '"gemini"' },
    ],
    ['more outbound requests than were sent', { outbound: [{}, {}, {}] }, { path: ['outbound'], expected: '3' }],
    [
      'no outbound request',
      { outbound: {} },
      { message: 'nothing was sent; none was tried' },
      { ...OUTCOME, attempts: [] },
    ],
    [
      'an address',
      { outbound: { url: 'https://*/chat' } },
      { path: ['outbound', 'url'], expected: '"https://*/chat"' },
    ],
    ['a method', { outbound: { method: 'GET' } }, { path: ['outbound', 'method'], expected: '"GET"', got: '"POST"' }],
    [
      'the status, with the reply’s message',
      { status: 200 },
      { path: ['status'], expected: '200', got: '429: "Slow down."' },
      { ...OUTCOME, status: 429, text: '{"error":{"message":"Slow down."}}' },
    ],
    [
      'a misspelt header',
      { headers: { 'x-gatway-provider': 'a' } },
      { got: 'nothing', suggestion: 'x-gateway-provider' },
    ],
    ['an unexpected header', { headers: { 'X-Gateway-Provider': null } }, { path: ['headers', 'X-Gateway-Provider'] }],
    [
      'a missing header of any value',
      { headers: { 'server-timing': '*' } },
      { path: ['headers', 'server-timing'], got: 'nothing' },
    ],
    [
      'a header with another prefix',
      { headers: { 'x-gateway-provider': 'open*' } },
      { path: ['headers', 'x-gateway-provider'], expected: '"open*"' },
    ],
    [
      'a list with more items',
      { body: { choices: [] } },
      { path: ['body', 'choices'], expected: '0 items', got: `1 item: ${JSON.stringify(REPLY.choices)}` },
    ],
    [
      'an item of a list',
      { body: { choices: [{ finish_reason: 'length' }] } },
      { path: ['body', 'choices', 0, 'finish_reason'] },
    ],
    ['text in place of JSON', { body: 'Hello' }, { path: ['body'], expected: '"Hello"' }],
    [
      'a reply that is not JSON',
      { body: {} },
      { message: 'the reply is not JSON', got: '"<html>"' },
      { ...OUTCOME, text: '<html>' },
    ],
    [
      'a reply that is not JSON when no body is expected',
      { body: null },
      { message: 'the reply is not JSON', got: '"<html>"' },
      { ...OUTCOME, text: '<html>' },
    ],
    [
      'a reply that is not a stream',
      { stream: { text: 'a' } },
      { path: ['stream'], message: 'the reply is not a stream' },
    ],
    ['the text of a stream', { stream: { text: 'Hallo' } }, { path: ['stream', 'text'], got: '"Hello"' }, STREAMED],
    ['the end of a stream', { stream: { ends: 'cut' } }, { expected: 'cut', got: 'complete' }, STREAMED],
    [
      'events in another order',
      { stream: { events: [{ n: 3 }, { n: 1 }] } },
      { path: ['stream', 'events', 1], message: 'there is no such event after event 3 of 3', expected: '{"n":1}' },
      STREAMED,
    ],
    [
      'a missing event, with the closest one',
      { stream: { events: [{ n: 2, delta: 'Hol' }] } },
      { message: 'there is no such event among 3 events', got: 'closest: {"n":2,"delta":"Hel"}' },
      STREAMED,
    ],
    [
      'only the expected part of the closest event',
      { stream: { events: [{ delta: 'Hol' }] } },
      { got: 'closest: {"delta":"Hel"}' },
      { ...STREAMED, stream: { ...STREAM, events: [{ id: 'a'.repeat(200), delta: 'Hel' }] } },
    ],
    [
      'the body of a stream',
      { body: { n: 1 } },
      { path: ['body'], message: 'the reply is a stream of events: expect it with `stream`' },
      STREAMED,
    ],
    ['a header named like an inherited property', { headers: { constructor: '*' } }, { got: 'nothing' }],
    [
      'a parameter that was not dropped',
      { dropped: ['seed', 'top_k', 'n'] },
      { path: ['dropped', 2], message: '`n` was not dropped' },
    ],
    [
      'an unexpected dropped parameter',
      { dropped: ['seed'] },
      { path: ['dropped'], message: '`top_k` was also dropped' },
    ],
    [
      'other texts in the call for vectors',
      { embeddings: { body: { input: ['Good bye'] } } },
      { path: ['embeddings', 'body', 'input', 0], expected: '"Good bye"', got: '"Hello"' },
    ],
    [
      'a missing call for vectors',
      { embeddings: { url: '*' } },
      { path: ['embeddings'], message: 'no call for vectors was made' },
      { ...OUTCOME, embeddings: [] },
    ],
    ['an unexpected call for vectors', { embeddings: [] }, { path: ['embeddings'], expected: '0', got: '1' }],
    [
      'a misspelt counter',
      { metrics: [{ name: 'gatehouse_fallback_total' }] },
      { path: ['metrics', 0, 'name'], suggestion: 'gatehouse_fallbacks_total' },
    ],
    [
      'other labels',
      { metrics: [{ name: 'gatehouse_fallbacks_total', labels: { reason: 'timeout' } }] },
      {
        path: ['metrics', 0, 'labels'],
        expected: '{reason="timeout"} more than 0',
        got: '{reason="rate_limited",config="prod"} 1',
      },
    ],
    [
      'another increment',
      { metrics: [{ name: 'gatehouse_tokens_total', value: 8 }] },
      { path: ['metrics', 0, 'value'], expected: '8' },
    ],
  ])('%s', (_, expected, reported, outcome = OUTCOME) => {
    expect(compare(expected, outcome)).toMatchObject([reported]);
  });

  test('an error of the case, with any expectations', () => {
    expect(compare({ status: 200 }, { ...OUTCOME, faults: ['a call has no answer'] })).toEqual([
      { path: [], message: 'a call has no answer' },
    ]);
  });

  test('the gateway’s rejection, before its consequences', () => {
    expect(compare({ attempts: 2 }, REFUSED)).toMatchObject([
      { path: [], message: 'the reply is 400: "No model."' },
      { path: ['attempts'] },
    ]);
  });

  test.each<[string, TestExpectation]>([
    ['no target was tried', { attempts: 0 }],
    ['nothing was sent', { outbound: [] }],
    ['nothing was dropped', { dropped: [] }],
    ['no vectors were made', { embeddings: [] }],
    ['a header is absent', { headers: { 'retry-after': null } }],
    ['nothing was counted', { metrics: [{ name: 'gatehouse_retries_total', value: 0 }] }],
  ])('a rejection, when a case only expects that %s, as is true of every rejection', (_, expected) => {
    const message = 'the reply is 400: "No model."; if intended, expect it with `status`';
    expect(compare(expected, REFUSED)).toEqual([{ path: [], message }]);
    expect(compare({ ...expected, status: 400 }, REFUSED)).toEqual([]);
    expect(compare({ ...expected, body: { error: { message: 'No model.' } } }, REFUSED)).toEqual([]);
  });

  test('a call without an answer, before the resulting status', () => {
    const failed = { ...OUTCOME, status: 502, faults: ['call 2 has no answer'] };
    expect(compare({ status: 200 }, failed).map(({ path }) => path.join('.'))).toEqual(['', 'status']);
    const retriedLess = { ...OUTCOME, status: 429, faults: ['2 answers, and there was 1 call'] };
    expect(compare({ status: 200 }, retriedLess).map(({ path }) => path.join('.'))).toEqual(['status', '']);
  });

  test('no suggestion for a target: every name in a case exists in the config', () => {
    const found = compare({ target: 'first', attempts: ['first', 'second'] }, { ...OUTCOME, status: 429 });
    expect(found.map(({ path, suggestion }) => [path[0], suggestion])).toEqual([
      ['target', undefined],
      ['attempts', undefined],
    ]);
  });

  test('every leaf separately', () => {
    const found = compare({ status: 201, outbound: { body: { model: 'a', max_tokens: 512, seed: 1 } } }, OUTCOME);
    expect(found.map(({ path }) => path.join('.'))).toEqual(['status', 'outbound.body.model', 'outbound.body.seed']);
  });

  test('long texts around their difference', () => {
    const text = (word: string): string => `${'a'.repeat(500)} ${word} ${'z'.repeat(500)}`;
    const [found] = differences(text('left'), text('right'), []);
    expect(found?.expected).toMatch(/^…a{23} left z+… \(\d+ characters\)$/);
    expect(found?.got).toMatch(/^…a{23} right z+… \(\d+ characters\)$/);
  });
});
