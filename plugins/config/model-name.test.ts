import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/core/kernel/index.ts';
import type { Reply, Sink, Source } from '../../src/plugin/index.ts';
import { withModelName } from './model-name.ts';

type FormatName = Operation['format']['name'];
interface Replied {
  readonly format: FormatName;
  readonly type?: string;
}

const rename = (body: Reply['body'], { format, type = 'text/event-stream; charset=utf-8' }: Replied) =>
  withModelName({ body, headers: { 'content-type': type } }, { format, name: 'fast' });

const named = (body: string, replied: Replied): string => String(rename(Buffer.from(body), replied));

/** The pieces that a client gets of a stream with these pieces. */
function streamed(pieces: readonly string[], replied: Replied): readonly string[] {
  const got: string[] = [];
  const sink: Sink = { push: (bytes) => void got.push(bytes.toString()), end() {}, fail() {} };
  const source: Source = {
    open: (to) => pieces.forEach((piece) => to.push(Buffer.from(piece))),
    pause() {},
    resume() {},
    cancel() {},
  };
  const body = rename(source, replied);
  if (!Buffer.isBuffer(body)) body.open(sink);
  return got;
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"model":"m-1"', String.raw`\"model\":\"`, '\\'),
);
const key = fc.constantFrom('model', 'modelVersion', 'message', 'response', 'args', '{');
/** Members of an event beside the model's name; many have its keys at another place. */
const { around } = fc.letrec<{ around: unknown; tree: unknown }>((tie) => ({
  around: fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
  tree: fc.oneof({ maxDepth: 4 }, text, fc.constant(null), fc.array(tie('tree'), { maxLength: 3 }), tie('around')),
}));

/** An event of each API, with the name of its model between other members. */
const EVENTS: Readonly<Record<FormatName, (name: string, before: object, after: object) => object>> = {
  'openai-chat': (name, before, after) => ({ choices: [before], model: name, usage: after }),
  gemini: (name, before, after) => ({ candidates: [before], modelVersion: name, usageMetadata: after }),
  'anthropic-messages': (name, before, after) => ({ x: before, message: { content: [before], model: name, after } }),
  'openai-responses': (name, before, after) => ({ x: [before], response: { tools: [before], model: name, after } }),
};
const formats = fc.constantFrom(...(Object.keys(EVENTS) as FormatName[]));

describe('the name of the model', () => {
  it('of a document is replaced in its first level alone', () => {
    fc.assert(
      fc.property(formats, text, around, (format, model, inner) => {
        const field = format === 'gemini' ? 'modelVersion' : 'model';
        const body = { id: 1, [field]: model, content: [{ input: { model }, inner }] };
        const got = named(`\n ${JSON.stringify(body)}`, { format, type: 'Application/JSON' });
        expect(got).toBe(`\n ${JSON.stringify({ ...body, [field]: 'fast' })}`);
      }),
    );
  });

  it('of a stream is replaced at its place in every event, in one piece per piece, and no other byte changes', () => {
    const frames = fc.constantFrom<readonly [string, string]>(
      ['event: x\ndata: ', '\n\n'],
      [': note {"model":"a"}\ndata:', '\r\n\r\n'],
    );
    const parts = fc.array(fc.tuple(around, around), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(formats, text, parts, frames, (format, model, around, [begin, end]) => {
        const written = (name: string) =>
          around.map(
            ([before, after]) => begin + JSON.stringify(EVENTS[format](name, Object(before), Object(after))) + end,
          );
        expect(streamed(written(model), { format })).toEqual(written('fast'));
        expect(named(written(model).join(''), { format })).toBe(written('fast').join(''));
      }),
    );
  });

  it('of an array of events is replaced in every event', () => {
    const event = (model: string) => JSON.stringify({ candidates: [{ modelVersion: 'a' }], modelVersion: model });
    const replied = { format: 'gemini', type: 'application/json' } as const;
    expect(streamed([`[${event('a')}`, `,\r\n${event('a')}`, ']'], replied)).toEqual([
      `[${event('fast')}`,
      `,\r\n${event('fast')}`,
      ']',
    ]);
    expect(named(`[${event('a')},\r\n${event('b')}]`, replied)).toBe(`[${event('fast')},\r\n${event('fast')}]`);
  });

  it('of a document is replaced wherever its key is repeated, and however deep the rest nests', () => {
    const replied = { format: 'openai-chat', type: 'application/json' } as const;
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(named(`{"model":"a","x":${deep},"model":"b"}`, replied)).toBe(`{"model":"fast","x":${deep},"model":"fast"}`);
  });

  it.each(['[1]', '{"a":1}', '{"model":null}', 'plain'])('is left out of %s', (body) => {
    expect(named(body, { format: 'openai-chat', type: 'application/json' })).toBe(body);
  });

  it.each(['audio/mpeg', 'text/plain'])('is not searched for in %s', (type) => {
    const body = Buffer.from('data: {"model":"a"}\n\n');
    expect(rename(body, { format: 'openai-chat', type })).toBe(body);
  });

  it('is found in time linear in the event', () => {
    const hard = ['{'.repeat(400_000), '"model"'.repeat(100_000), `"${'\\'.repeat(400_000)}"`, '[]'.repeat(300_000)];
    const from = process.threadCpuUsage();
    for (const part of hard) named(`data: {"candidates":${part},"modelVersion":"a"}\n\n`, { format: 'gemini' });
    // Processor time in µs, which a busy machine does not stretch. Time that grows with the square would be minutes.
    expect(process.threadCpuUsage(from).user).toBeLessThan(3_000_000);
  });
});
