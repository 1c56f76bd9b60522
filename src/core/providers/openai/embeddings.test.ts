import { describe, expect, test } from 'vitest';
import { RequestBody } from '../../kernel/index.ts';
import { openAiEmbeddings } from './whole-replies.ts';

const bodyOf = (json: object): RequestBody => RequestBody.read(Buffer.from(JSON.stringify(json)), 9);

/** The reply's bytes in pieces of this size. */
function read(text: string, size = 7) {
  const reader = openAiEmbeddings.openReader('asked', false);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return { out: reader.end()?.toString(), signals: reader.signals };
}

const reply = (more: object = {}) => ({
  object: 'list',
  model: 'm-2',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 4, total_tokens: 4 },
  ...more,
});

describe('embeddings by OpenAI’s API', () => {
  test('change only the name of the model in a body', () => {
    const body = bodyOf({ model: '@slug/m', input: 'a' });
    expect(openAiEmbeddings.edits(body, 'm')).toEqual([{ path: ['model'], value: 'm', source: 'gateway' }]);
    expect(openAiEmbeddings.edits(bodyOf({ model: 'm' }), 'm')).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['floats', [0.5, 1]],
    ['base64', 'AACAPw=='],
    ['several encodings, as Cohere returns them', { int8: [1], binary: [0] }],
  ])('pass a reply with %s through unchanged, and count its tokens', (_, embedding) => {
    const text = JSON.stringify(reply({ data: [{ embedding, x: 1 }] }), undefined, 1);
    const { out, signals } = read(text);
    expect(out).toBe(text);
    expect(signals).toMatchObject({
      ended: true,
      content: true,
      model: 'm-2',
      usage: { input: 4, output: 0, total: 4 },
      failure: undefined,
    });
  });

  test('are complete without usage, which some servers omit', () => {
    const { usage: _, ...without } = reply();
    expect(read(JSON.stringify(without)).signals).toMatchObject({ ended: true, usage: undefined });
  });

  test.each([
    '',
    'null',
    '[]',
    '{}',
    '{"data":{}}',
    '{"data":[]}',
    '{"data":[null]}',
    '{"data":[{"embedding":[]}]}',
    '{"data":[{"embedding":null}]}',
    JSON.stringify(reply()).slice(0, -1),
  ])('are a failure without output when the reply is %j', (text) => {
    const { out, signals } = read(text);
    expect(out).toBeUndefined();
    expect(signals).toMatchObject({ ended: false, failure: { status: 502, kind: 'unreadable_reply' } });
  });

  test('are the error that a 200 contains', () => {
    const { out, signals } = read('{"error":{"message":"too fast","type":"rate_limit_error"}}');
    expect(out).toBeUndefined();
    expect(signals.failure).toMatchObject({ status: 429, message: 'too fast' });
  });
});
