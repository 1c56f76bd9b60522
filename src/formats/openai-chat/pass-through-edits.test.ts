import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { requestTarget } from '../laws.testkit.ts';
import { openaiChat } from './index.ts';

const view = (body: JsonObject) => ({ has: (key: string) => key in body, value: (key: string) => body[key] });
const edits = (body: JsonObject) => openaiChat.passThroughEdits(view(body), requestTarget({ model: 'gpt-x' }));
const model = { path: ['model'], value: 'gpt-x', source: 'gateway' };
const options = (value: JsonObject) => ({ path: ['stream_options'], value, source: 'gateway' });

describe('passThroughEdits', () => {
  it.each<[string, JsonObject, readonly unknown[]]>([
    ['nothing to do for a plain request to the same model', { model: 'gpt-x' }, []],
    ['the target’s own name of the model', { model: '@a/gpt-x', stream: false }, [model]],
    [
      'usage of a stream whose client says nothing',
      { model: 'gpt-x', stream: true },
      [options({ include_usage: true })],
    ],
    [
      'usage where the client sent null',
      { model: 'gpt-x', stream: true, stream_options: null },
      [options({ include_usage: true })],
    ],
    [
      'usage where the client declined it, its other options kept',
      { model: 'gpt-x', stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
      [options({ include_usage: true, include_obfuscation: false })],
    ],
    [
      'nothing where the client asks for usage itself',
      { model: 'gpt-x', stream: true, stream_options: { include_usage: true } },
      [],
    ],
    ['both', { model: 'm', stream: true }, [model, options({ include_usage: true })]],
  ])('sets %s', (_title, body, expected) => {
    const before = JSON.stringify(body);
    expect(edits(body)).toEqual(expected);
    expect(JSON.stringify(body)).toBe(before);
  });

  it('requests no usage when the server refuses the option, and leaves the client’s own option unchanged', () => {
    const target = requestTarget({ model: 'gpt-x', streamUsage: false });
    const ask = (body: JsonObject) => openaiChat.passThroughEdits(view(body), target);
    expect(ask({ model: 'm', stream: true })).toEqual([model]);
    expect(ask({ model: 'gpt-x', stream: true, stream_options: { include_usage: true } })).toEqual([]);
  });
});
