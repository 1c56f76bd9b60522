import { describe, expect, test } from 'vitest';
import type { TestExpectation } from '../../../schemas/types.generated.ts';
import { compare } from './compare.ts';
import { differences } from './differences.ts';
import type { AttemptOutcome, CaseCall, CaseOutcome } from './outcome.ts';

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
  metrics: [],
};

const STREAM = {
  events: [{ n: 1 }, { n: 2, delta: 'Hel' }, { n: 3, delta: 'lo' }],
  text: 'Hello',
  ends: 'complete',
} as const;
const STREAMED: CaseOutcome = { ...OUTCOME, stream: STREAM };

describe('what is as expected', () => {
  test.each<[string, TestExpectation, CaseOutcome?]>([
    ['the target by its path', { target: 'config.targets[1]' }],
    ['the target by its slug', { target: '@claude' }],
    ['the target by its name', { target: 'first' }, { ...OUTCOME, attempts: [{ ...FIRST, error: undefined }] }],
    [
      'a target that broke after its reply had begun',
      { target: '@claude' },
      { ...STREAMED, attempts: [{ ...SECOND, error: 'upstream_disconnected' }] },
    ],
    ['how many were tried', { attempts: 2 }],
    ['who was tried', { attempts: ['first', '@claude'] }],
    ['that nobody was', { attempts: [] }, { ...OUTCOME, attempts: [] }],
    ['what the last one was sent', { outbound: { body: { max_tokens: 512 } } }],
    [
      'what a target before one that was refused was sent',
      { outbound: { body: { model: 'gemini' } } },
      { ...OUTCOME, attempts: [FIRST, { ...SECOND, outbound: undefined }] },
    ],
    ['what each was sent', { outbound: [{ body: { max_tokens: 9 } }, { method: 'post' }] }],
    ['an address', { outbound: { url: 'https://api.anthropic.com/v1/messages' } }],
    ['an address with any text in it', { outbound: { url: 'https://*/messages' } }],
    ['a header in other letters', { outbound: { headers: { 'Content-Type': 'application/json', cookie: null } } }],
    ['a field that is null or missing', { outbound: { body: { stop: null, seed: null } } }],
    ['the status', { status: 200 }],
    ['headers of the reply', { headers: { 'X-Gateway-Provider': 'anthropic', 'retry-after': null } }],
    ['a header of any text', { headers: { 'x-gateway-provider': '*' } }],
    ['a header that begins so', { headers: { 'x-gateway-provider': 'anth*' } }],
    ['fields of the body', { body: { choices: [{ message: { content: 'Hello' } }] } }],
    ['the whole body', { body: JSON.stringify(REPLY) }],
    ['text of a stream', { stream: { text: 'Hello', ends: 'complete' } }, STREAMED],
    ['events with others between them', { stream: { events: [{ n: 1 }, { delta: 'lo' }] } }, STREAMED],
    ['dropped parameters in any order', { dropped: ['top_k', 'seed'] }],
    ['that nothing was dropped', { dropped: [] }, { ...OUTCOME, dropped: [] }],
    ['a counter', { metrics: [{ name: 'gatehouse_fallbacks_total' }] }],
    [
      'a counter with some of its labels',
      { metrics: [{ name: 'gatehouse_fallbacks_total', labels: { reason: 'rate_limited' } }] },
    ],
    ['a counter by how much', { metrics: [{ name: 'gatehouse_tokens_total', labels: { type: 'output' }, value: 4 }] }],
    ['all that fits together', { metrics: [{ name: 'gatehouse_tokens_total', value: 7 }] }],
    ['a counter that was not counted', { metrics: [{ name: 'gatehouse_retries_total', value: 0 }] }],
  ])('%s', (_, expected, outcome = OUTCOME) => {
    expect(compare(expected, outcome)).toEqual([]);
  });
});

describe('what is not as expected is told', () => {
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
    ['another one in its place', { attempts: ['@claude', '@claude'] }, { path: ['attempts', 0], expected: '@claude' }],
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
    ['more outbound than there was', { outbound: [{}, {}, {}] }, { path: ['outbound'], expected: '3' }],
    [
      'that nothing was sent',
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
      'the status, and what the reply says',
      { status: 200 },
      { path: ['status'], expected: '200', got: '429: "Slow down."' },
      { ...OUTCOME, status: 429, text: '{"error":{"message":"Slow down."}}' },
    ],
    [
      'a misspelt header',
      { headers: { 'x-gatway-provider': 'a' } },
      { got: 'nothing', suggestion: 'x-gateway-provider' },
    ],
    [
      'a header that is there',
      { headers: { 'X-Gateway-Provider': null } },
      { path: ['headers', 'X-Gateway-Provider'] },
    ],
    [
      'a header that must be there, whatever it says',
      { headers: { 'server-timing': '*' } },
      { path: ['headers', 'server-timing'], got: 'nothing' },
    ],
    [
      'a header that begins otherwise',
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
    ['text where JSON is', { body: 'Hello' }, { path: ['body'], expected: '"Hello"' }],
    [
      'a reply that is no JSON',
      { body: {} },
      { message: 'the reply is not JSON', got: '"<html>"' },
      { ...OUTCOME, text: '<html>' },
    ],
    [
      'a reply that is no JSON where none is expected',
      { body: null },
      { message: 'the reply is not JSON', got: '"<html>"' },
      { ...OUTCOME, text: '<html>' },
    ],
    [
      'a reply that is no stream',
      { stream: { text: 'a' } },
      { path: ['stream'], message: 'the reply is not a stream' },
    ],
    ['the text of a stream', { stream: { text: 'Hallo' } }, { path: ['stream', 'text'], got: '"Hello"' }, STREAMED],
    ['how a stream ends', { stream: { ends: 'cut' } }, { expected: 'cut', got: 'complete' }, STREAMED],
    [
      'events in another order',
      { stream: { events: [{ n: 3 }, { n: 1 }] } },
      { path: ['stream', 'events', 1], message: 'there is no such event after event 3 of 3', expected: '{"n":1}' },
      STREAMED,
    ],
    [
      'an event that never came, with the one most like it',
      { stream: { events: [{ n: 2, delta: 'Hol' }] } },
      { message: 'there is no such event among 3 events', got: 'closest: {"n":2,"delta":"Hel"}' },
      STREAMED,
    ],
    [
      'of that one only what is expected',
      { stream: { events: [{ delta: 'Hol' }] } },
      { got: 'closest: {"delta":"Hel"}' },
      { ...STREAMED, stream: { ...STREAM, events: [{ id: 'a'.repeat(200), delta: 'Hel' }] } },
    ],
    [
      'the body of what is a stream',
      { body: { n: 1 } },
      { path: ['body'], message: 'the reply is a stream of events: expect it with `stream`' },
      STREAMED,
    ],
    ['a header by a name that every object has', { headers: { constructor: '*' } }, { got: 'nothing' }],
    [
      'what was not dropped',
      { dropped: ['seed', 'top_k', 'n'] },
      { path: ['dropped', 2], message: '`n` was not dropped' },
    ],
    ['what was dropped, too', { dropped: ['seed'] }, { path: ['dropped'], message: '`top_k` was dropped, too' }],
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
      'another amount',
      { metrics: [{ name: 'gatehouse_tokens_total', value: 8 }] },
      { path: ['metrics', 0, 'value'], expected: '8' },
    ],
  ])('%s', (_, expected, reported, outcome = OUTCOME) => {
    expect(compare(expected, outcome)).toMatchObject([reported]);
  });

  test('what a case got wrong, whatever it expects', () => {
    expect(compare({ status: 200 }, { ...OUTCOME, faults: ['a call has no answer'] })).toEqual([
      { path: [], message: 'a call has no answer' },
    ]);
  });

  test('why the gateway refused a request, before what follows from that', () => {
    expect(compare({ attempts: 2 }, REFUSED)).toMatchObject([
      { path: [], message: 'the reply is 400: "No model."' },
      { path: ['attempts'] },
    ]);
  });

  test.each<[string, TestExpectation]>([
    ['nobody was tried', { attempts: 0 }],
    ['nobody was sent anything', { outbound: [] }],
    ['nothing was dropped', { dropped: [] }],
    ['a header is not there', { headers: { 'retry-after': null } }],
    ['nothing was counted', { metrics: [{ name: 'gatehouse_retries_total', value: 0 }] }],
  ])('a refusal, where a case only says that %s, as is true of each', (_, expected) => {
    const message = 'the reply is 400: "No model."; if intended, expect it with `status`';
    expect(compare(expected, REFUSED)).toEqual([{ path: [], message }]);
    expect(compare({ ...expected, status: 400 }, REFUSED)).toEqual([]);
    expect(compare({ ...expected, body: { error: { message: 'No model.' } } }, REFUSED)).toEqual([]);
  });

  test('that a call has no answer, before the status it leads to', () => {
    const failed = { ...OUTCOME, status: 502, faults: ['call 2 has no answer'] };
    expect(compare({ status: 200 }, failed).map(({ path }) => path.join('.'))).toEqual(['', 'status']);
    const retriedLess = { ...OUTCOME, status: 429, faults: ['2 answers, and there was 1 call'] };
    expect(compare({ status: 200 }, retriedLess).map(({ path }) => path.join('.'))).toEqual(['status', '']);
  });

  test('no other target as what was meant: every name in a case is one of the config', () => {
    const found = compare({ target: 'first', attempts: ['first', 'second'] }, { ...OUTCOME, status: 429 });
    expect(found.map(({ path, suggestion }) => [path[0], suggestion])).toEqual([
      ['target', undefined],
      ['attempts', undefined],
    ]);
  });

  test('every leaf by itself', () => {
    const found = compare({ status: 201, outbound: { body: { model: 'a', max_tokens: 512, seed: 1 } } }, OUTCOME);
    expect(found.map(({ path }) => path.join('.'))).toEqual(['status', 'outbound.body.model', 'outbound.body.seed']);
  });

  test('of long texts where they part', () => {
    const text = (word: string): string => `${'a'.repeat(500)} ${word} ${'z'.repeat(500)}`;
    const [found] = differences(text('left'), text('right'), []);
    expect(found?.expected).toMatch(/^…a{23} left z+… \(\d+ characters\)$/);
    expect(found?.got).toMatch(/^…a{23} right z+… \(\d+ characters\)$/);
  });
});
