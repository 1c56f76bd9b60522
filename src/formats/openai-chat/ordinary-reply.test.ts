import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSignals } from '../events.ts';
import { ReplyFault } from '../faults.ts';
import type { ReplyContext } from '../format.ts';
import { isObject } from '../json/object.ts';
import { noLosses } from '../losses/reply-losses.ts';
import { observe } from '../streams/signals.ts';
import { removeExtensions } from './chunk-fields.ts';
import { decodeReply } from './decode-reply.ts';
import { readOrdinaryReply } from './ordinary-reply.ts';

const reply: ReplyContext = { model: 'm', newCallId: () => 'call' };

const ORDINARY = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello', refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8, prompt_tokens_details: { cached_tokens: 2 } },
  system_fingerprint: null,
};

/** Values that replies have in the wrong places. */
const anything = fc.oneof(
  fc.constantFrom(null, '', 'text', 'stop', 'length', 'content_filter', 'tool_calls', 0, -1, 7, true, false),
  fc.constantFrom([], {}, [null], [{}], { message: 'broken', code: 500 }, { content: 'x' }),
  fc.jsonValue({ maxDepth: 2 }),
);
const KEYS = [
  ...['id', 'model', 'choices', 'usage', 'error', 'citations', 'service_tier'].map((key) => [key]),
  ...['index', 'message', 'delta', 'finish_reason', 'native_finish_reason', 'logprobs', 'content_filter_results'].map(
    (key) => ['choices', 0, key],
  ),
  ...['content', 'refusal', 'tool_calls', 'function_call', 'audio', 'images', 'reasoning', 'reasoning_content'].map(
    (key) => ['choices', 0, 'message', key],
  ),
  ...['annotations', 'content_blocks', 'role'].map((key) => ['choices', 0, 'message', key]),
  ['choices', 1],
  ['usage', 'prompt_tokens'],
  ['usage', 'completion_tokens'],
];
const change = fc.record({ path: fc.constantFrom(...KEYS), value: fc.oneof(anything, fc.constant(undefined)) });

function mutated(
  changes: readonly { readonly path: readonly (string | number)[]; readonly value: unknown }[],
): unknown {
  const body: unknown = structuredClone(ORDINARY);
  for (const { path, value } of changes) {
    let at: unknown = body;
    for (const key of path.slice(0, -1)) at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined;
    const key = path.at(-1)!;
    if (typeof at !== 'object' || at === null) continue;
    if (value === undefined) Reflect.deleteProperty(at, key);
    else Reflect.set(at, key, value);
  }
  return body;
}

describe('readOrdinaryReply', () => {
  it('reads an ordinary reply', () => {
    const signals = createSignals();
    expect(readOrdinaryReply(ORDINARY, signals)).toBe(true);
    expect(signals).toMatchObject({
      finish: 'stop',
      model: 'gpt-4o-mini',
      ended: true,
      usage: { input: 5, output: 3 },
    });
  });

  it('reads what the events of the reply say, and only replies without extensions', () => {
    let read = 0;
    fc.assert(
      fc.property(fc.array(change, { maxLength: 3 }), (changes) => {
        const body = mutated(changes);
        const signals = createSignals();
        if (!readOrdinaryReply(body, signals)) {
          expect(signals).toEqual(createSignals());
          return;
        }
        read += 1;
        const expected = createSignals();
        observe(expected, decodeReply(body, reply));
        // A reply with a count needs no estimate.
        expect(signals).toEqual({ ...expected, text: 0 });
        expect(isObject(body) && removeExtensions(body, noLosses())).toBe(false);
      }),
      { numRuns: 3000 },
    );
    expect(read).toBeGreaterThan(300);
  });

  it('leaves replies without a count to `decodeReply`, whose text is measured', () => {
    expect(readOrdinaryReply({ ...ORDINARY, usage: null }, createSignals())).toBe(false);
  });

  it('leaves replies to `decodeReply` that it refuses', () => {
    for (const body of [[], null, { choices: [] }, { choices: [{}] }, { ...ORDINARY, error: { message: 'no' } }]) {
      expect(readOrdinaryReply(body, createSignals())).toBe(false);
    }
    expect(() => decodeReply({ choices: [] }, reply)).toThrow(ReplyFault);
  });
});
