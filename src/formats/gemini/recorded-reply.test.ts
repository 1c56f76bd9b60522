import { Buffer } from 'node:buffer';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Part } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { fold } from '../streams/fold.ts';
import { decodeAll, expectOneTerminal, expectRechunkingKeepsEvents, expectUsageOnce } from '../laws.testkit.ts';
import { replyContext } from '../contexts.testkit.ts';
import { decodeError } from './errors.ts';
import { decodeReply, decodeStream } from './decode-reply.ts';
import { type Expected, hasCorpus, loadDerive, type Recording, recordings } from './recorded.testkit.ts';

const all = recordings();
const replies = all.filter(({ response_status }) => response_status === 200);
const streams = replies.filter(({ response_body }) => typeof response_body === 'string');

function bytesOf(recording: Recording): Buffer {
  return Buffer.from(String(recording.response_body));
}

function decode(recording: Recording): readonly GenerationEvent[] {
  const context = replyContext();
  return recording.response_body_kind === 'json'
    ? decodeReply(recording.response_body, context)
    : decodeAll(decodeStream(context), [bytesOf(recording)]);
}

const texts = (parts: readonly Part[], type: 'text' | 'thinking') =>
  parts.map((part) => (part.type === type ? part.text : '')).join('');

describe.skipIf(!hasCorpus)('recorded Gemini replies', () => {
  let derive: (recording: Recording) => Expected;
  beforeAll(async () => {
    derive = await loadDerive();
  });

  it('are there to be read', () => {
    expect(replies.length).toBeGreaterThan(300);
    expect(streams.length).toBeGreaterThan(50);
  });

  it.each(replies.map((recording) => [recording.id, recording] as const))(
    '%s decodes to the recorded content',
    (_, recording) => {
      const expected = derive(recording);
      const events = decode(recording);
      expectOneTerminal(events);
      expectUsageOnce(events);
      if (!expected.applicable) return;
      const { choices, usage, failure } = fold(events);
      if (expected.streamError !== undefined) {
        expect(failure?.message).toContain(expected.streamError);
        return;
      }
      if (expected.unfinished) expect(failure?.kind).toBe('stream_interrupted');
      else expect(failure).toBeUndefined();
      if (expected.blocked !== undefined) {
        expect(choices).toMatchObject([{ parts: [], finish: 'content_filter', native: expected.blocked }]);
        return;
      }
      expect(choices).toHaveLength(expected.choices.length);
      expected.choices.forEach((want, index) => {
        const { parts, native, finish } = choices[index]!;
        expect(texts(parts, 'text')).toBe(want.text.join(''));
        expect(texts(parts, 'thinking')).toBe(want.thinking.map(({ text }) => text).join(''));
        const calls = parts.filter((part) => part.type === 'tool_call');
        expect(calls.map(({ name }) => name)).toEqual(want.tools.map(({ name }) => name));
        expect(calls.map(({ signature }) => signature)).toEqual(want.tools.map(({ signature }) => signature));
        want.tools.forEach((tool, at) => {
          if (tool.upstreamId) expect(calls[at]!.id).toBe(tool.upstreamId);
          const args: unknown = JSON.parse(calls[at]!.arguments);
          if (!tool.argsUnknown && !want.partial) expect(args).toEqual(tool.args);
        });
        const images = parts.filter((part) => part.type === 'media');
        expect(images.map(({ mime, source }) => ({ mime, data: source.kind === 'data' && source.data }))).toEqual(
          want.images,
        );
        if (want.stop !== null) expect(native).toBe(want.stop);
        if (want.stop === 'STOP') expect(finish).toBe(want.tools.length > 0 ? 'tool_calls' : 'stop');
      });
      if (expected.usage) {
        expect(expected.usage.promptInclusive).toContain(usage?.input);
        if (!expected.unfinished) expect(expected.usage.completion).toContain(usage?.output);
        if (!expected.unfinished) expect(expected.usage.total).toContain(usage?.total);
        expect(usage?.cacheRead ?? 0).toBe(expected.usage.cached);
        expect(usage?.reasoning ?? 0).toBe(expected.usage.reasoning);
      }
    },
  );

  it('keep every thought signature', () => {
    let seen = 0;
    for (const recording of replies) {
      const wire = JSON.stringify(recording.response_body).matchAll(/\\?"thoughtSignature\\?":\s*\\?"([^"\\]+)/g);
      const kept = JSON.stringify(decode(recording));
      for (const [, signature] of wire) {
        seen += 1;
        expect(kept).toContain(signature);
      }
    }
    expect(seen).toBeGreaterThan(150);
  });

  it.each(streams.map((recording) => [recording.id, recording] as const))(
    '%s reads the same in any split',
    (_, recording) => {
      const bytes = bytesOf(recording);
      for (let seed = 1; seed <= 8; seed += 1) {
        expectRechunkingKeepsEvents(() => decodeStream(replyContext()), bytes, seed);
      }
    },
  );

  it('reads the same with LF line ends as with CRLF', () => {
    for (const recording of streams.filter(({ response_body_kind }) => response_body_kind === 'sse')) {
      const unix = Buffer.from(String(recording.response_body).replaceAll('\r\n', '\n'));
      expect(decodeAll(decodeStream(replyContext()), [unix])).toEqual(decode(recording));
    }
  });

  it('errors keep status and message', () => {
    for (const recording of all.filter(({ response_status }) => response_status >= 400)) {
      const failure = decodeError(recording.response_status, JSON.stringify(recording.response_body));
      expect(failure).toMatchObject({ status: recording.response_status, message: derive(recording).errorMessage });
    }
  });
});
