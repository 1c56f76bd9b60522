import { expect, it } from 'vitest';
import type { FoundRecording, RecordedReply } from '../../core/process/recordings-port.ts';
import { run, TARGETS } from './run.testkit.ts';

const event = (value: object): Buffer => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
const chunk = (delta: object, finish: string | null = null): Buffer =>
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

const SSE = { status: 200, headers: { 'content-type': 'text/event-stream' } };
const PIECES = [
  chunk({ role: 'assistant', content: 'Hel' }),
  chunk({ content: 'lo' }),
  chunk({}, 'stop'),
  Buffer.from('data: [DONE]\n\n'),
];
const at = (ms: readonly number[], end: RecordedReply['end'] = 'complete'): RecordedReply => ({
  ...SSE,
  pieces: ms.map((one, index) => [one, PIECES[index]!] as const),
  end,
});

const replayed = (...found: readonly FoundRecording[]) => {
  const rest = [...found];
  return {
    body: { stream: true },
    upstream: { replay: 'captures/a.jsonl' },
    readReplay: () => ({ find: () => rest.shift() ?? { miss: 'no recording is equal' } }),
  };
};

const FALLBACK = { strategy: { mode: 'fallback' }, targets: [TARGETS.openai, { ...TARGETS.openai, name: 'second' }] };

it('The pieces of a recording come at their pace: a limit of silence acts as it did', async () => {
  const config = { ...TARGETS.openai, timeouts: { idle: '60s' } };
  const quick = await run(config, replayed({ reply: at([10, 59_000, 118_000, 118_001]) }));
  expect(quick.stream).toMatchObject({ text: 'Hello', ends: 'complete' });
  const late = await run(config, replayed({ reply: at([10, 61_000, 61_001, 61_002]) }));
  expect(late.stream).toMatchObject({ text: 'Hel', ends: 'error' });
  expect(late.faults).toEqual([]);
});

it.each<[string, FoundRecording, string]>([
  ['broke off', { reply: at([10, 20], 'cut') }, 'stream_interrupted'],
  ['fell silent', { reply: at([10, 20], 'silent') }, 'timeout_idle'],
])('A reply that %s does so again', async (_, found, error) => {
  const outcome = await run(TARGETS.openai, replayed(found));
  expect(outcome.stream).toMatchObject({ text: 'Hello', ends: 'error' });
  expect(outcome.attempts).toMatchObject([{ error }]);
});

it.each<[string, FoundRecording, string]>([
  ['had no connection', { failed: 7 }, 'connection_failed'],
  ['never answered', { failed: Infinity }, 'timeout_first_byte'],
  [
    'refused the call',
    { reply: { status: 429, headers: {}, pieces: [[3, Buffer.from('{}')]], end: 'complete' } },
    'rate_limit_exceeded',
  ],
])('A target that %s is followed by the next one, as it was', async (_, found, error) => {
  const outcome = await run(FALLBACK, replayed(found, { reply: at([1, 2, 3, 4]) }));
  expect(outcome.attempts).toMatchObject([{ error }, { name: 'second', error: undefined }]);
  expect(outcome.faults).toEqual([]);
});

it('A call that is in no recording fails the case with the difference', async () => {
  const { faults } = await run(TARGETS.openai, replayed());
  expect(faults).toEqual([
    'call 1 (POST https://api.openai.com/v1/chat/completions) has no answer in captures/a.jsonl: no recording is equal',
  ]);
});
