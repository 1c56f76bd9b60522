import { expect, it } from 'vitest';
import type { CapturedCall } from './captured.ts';
import { readRecordings } from './recordings.ts';

const HEAD = '{"gatehouse_capture":1,"id":"c","where":{},"started_at":"2026-11-30T10:00:00.000Z"}';

const URL_OF = 'https://api.example/v1/chat/completions';
const BODY = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

const call = (more: Partial<CapturedCall> = {}): CapturedCall => ({
  target: 'config',
  method: 'POST',
  url: URL_OF,
  headers: {},
  body: JSON.stringify(BODY),
  at_ms: 0,
  reply: { status: 200, headers: {}, pieces: [[5, 'one']], end: 'complete' },
  ...more,
});

const fileOf = (...calls: readonly CapturedCall[]): string =>
  [HEAD, ...calls.map((one, index) => JSON.stringify({ id: `r${index}`, calls: [one] }))].join('\n');

const asked = (body: unknown = BODY, path = '/v1/chat/completions') => ({
  method: 'POST',
  path,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const textOf = (found: ReturnType<ReturnType<typeof readRecordings>['find']>): string =>
  'reply' in found ? found.reply.pieces.map(([, bytes]) => bytes.toString()).join('') : JSON.stringify(found);

it('Equal calls get their replies in the recorded order, and then from the first again', () => {
  const reply = (text: string) =>
    ({ reply: { status: 200, headers: {}, pieces: [[1, text]], end: 'complete' } }) as const;
  const table = readRecordings(fileOf(call(reply('one')), call(reply('two'))), 'f');
  expect([1, 2, 3].map(() => textOf(table.find(asked())))).toEqual(['one', 'two', 'one']);
});

it.each([
  ['another order of keys', { messages: BODY.messages, model: 'm' }, 'one'],
  ['other spaces', JSON.stringify(BODY, null, 2), 'one'],
])('A call with %s is the same call', (_, body, text) => {
  expect(textOf(readRecordings(fileOf(call()), 'f').find(asked(body)))).toBe(text);
});

it('A call with a credential fits the recording that has marks in its place', () => {
  const key = 'sk-canary-0123456789abcdef';
  const body = { ...BODY, user: key };
  const recorded = call({ body: JSON.stringify({ ...BODY, user: '*'.repeat(key.length) }) });
  expect(textOf(readRecordings(fileOf(recorded), 'f').find(asked(body)))).toBe('one');
});

it('A form may have any bytes, because those of the recording are not kept', () => {
  expect(textOf(readRecordings(fileOf(call({ body: null })), 'f').find(asked('--b\r\n')))).toBe('one');
});

const other = { ...BODY, model: 'n' };
const long = { ...BODY, messages: [{ role: 'user', content: `${'a'.repeat(80)}X${'b'.repeat(80)}` }] };
const longer = { ...BODY, messages: [{ role: 'user', content: `${'a'.repeat(80)}Y${'b'.repeat(80)}` }] };

it.each([
  ['another value', call(), asked(other), 'model is "n", recorded "m"'],
  ['a further field', call(), asked({ ...BODY, seed: 1 }), 'seed is 1, and the recording has none'],
  ['a missing field', call(), asked({ model: 'm' }), 'messages is missing, recorded [{'],
  ['another path', call(), asked(BODY, '/v1/messages'), 'the call is POST /v1/chat/completions, not POST /v1/messages'],
  ['a long text', call({ body: JSON.stringify(long) }), asked(longer), 'messages.0.content is …aaaaaaaaaaaaYbbb'],
  ['a body that is no JSON', call({ body: 'a' }), asked('b'), 'the body is another text'],
])('A miss by %s says so', (_, recorded, sent, words) => {
  const found = readRecordings(fileOf(recorded), 'f').find(sent);
  expect('miss' in found && found.miss).toContain(words);
});

it('The nearest recording is the one with the fewest differences', () => {
  const far = call({ body: JSON.stringify({ model: 'x', messages: [], seed: 3, n: 2 }) });
  const found = readRecordings(fileOf(far, call()), 'f').find(asked(other));
  expect(found).toEqual({ miss: expect.stringContaining('a call of request r1, where model') });
});

it.each([
  ['refused its connection', { failed: 'connection_failed', failed_ms: 7 }, { failed: 7 }],
  ['said nothing', { failed: 'timeout_first_byte', failed_ms: 900 }, { failed: Infinity }],
])('An upstream that %s does so again', (_, more, found) => {
  const { reply: _reply, ...without } = call(more);
  expect(readRecordings(fileOf(without), 'f').find(asked())).toEqual(found);
});

it.each([
  ['', 'f:1: this is no file of a capture'],
  ['{"gatehouse_capture":2}', 'f:1: this is no file of a capture'],
  [`${HEAD}\n\n{"id":"r"}`, 'f:3: this line is no captured request'],
  [`${HEAD}\n{"id":"r","calls":[{"method":"POST","url":"no url"}]}`, 'f:2: this line'],
  [
    `${HEAD}\n{"id":"r","calls":[{"method":"POST","url":"http://a","reply":{"status":200,"headers":{},"pieces":[[1,2]]}}]}`,
    'f:2',
  ],
])('The file %j is refused with its line', (text, message) => {
  expect(() => readRecordings(text, 'f')).toThrow(message);
});
