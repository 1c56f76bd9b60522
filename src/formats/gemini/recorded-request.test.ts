import { describe, expect, it } from 'vitest';
import type { Conversation } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import { deepFreeze, replyContext, requestTarget, encodeWith } from '../contexts.testkit.ts';
import { canonical } from './conversation.testkit.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeRequest } from './encode-request.ts';
import { hasCorpus, type Recording, recordings } from './recorded.testkit.ts';
import { SKIP_SIGNATURE } from './thought-signature.ts';

const requests = recordings().filter(({ request_body_kind }) => request_body_kind === 'json');
const legal = requests.filter(({ request_body }) => !JSON.stringify(request_body).includes('"invalid_role"'));

const roundTrip = (recording: Recording, host: 'vertex' | 'direct') => {
  // Thoughts are requested when the recorded client requested them.
  const strict = !/include_?thoughts/i.test(JSON.stringify(recording.request_body));
  const target = requestTarget({ model: recording.model, host, strict });
  const first = decodeRequest(deepFreeze(recording.request_body));
  const { body, losses } = encodeWith({ encodeRequest }, deepFreeze(first), target, replyContext());
  return { first, body, losses, second: { ...decodeRequest(body), model: first.model } };
};

/** Only the signature of an earlier thought is sent (docs/protocols/requests.md#thoughts-to-gemini). */
const withoutThoughts = (conversation: Conversation): Conversation => ({
  ...conversation,
  turns: conversation.turns.map((turn) => ({
    ...turn,
    parts: turn.parts
      .filter((part) => part.type !== 'thinking' || part.signature !== undefined)
      .map((part) => (part.type === 'thinking' ? { ...part, text: '' } : part)),
  })),
});

describe.skipIf(!hasCorpus)('recorded Gemini requests', () => {
  it('are there to be read', () => {
    expect(legal.length).toBeGreaterThan(350);
  });

  it.each(legal.map((recording) => [recording.id, recording] as const))(
    '%s comes back as the same conversation',
    (_, recording) => {
      for (const host of ['vertex', 'direct'] as const) {
        const { first, second, losses } = roundTrip(recording, host);
        const lost = new Set(losses.map(({ param }) => param.replace(/[.[].*/, '')));
        const withoutSentinel: typeof second = JSON.parse(JSON.stringify(canonical(second)), (key, value: unknown) =>
          key === 'signature' && value === SKIP_SIGNATURE ? undefined : value,
        );
        const before: typeof first = JSON.parse(JSON.stringify(canonical(withoutThoughts(first))));
        // A loss may replace the field that it names.
        if (lost.has('thinking') || lost.has('reasoning_effort')) {
          Object.assign(before, { reasoning: withoutSentinel.reasoning });
        }
        if (lost.has('labels')) Object.assign(before, { labels: undefined });
        // The one switch of `toolConfig` that Vertex AI refuses. The recorded request has no other extras.
        if (lost.has('toolConfig')) Object.assign(before, { extras: undefined, extrasFormat: undefined });
        expect(lost).not.toContain('messages');
        expect(withoutSentinel).toEqual(before);
      }
    },
  );

  it('a role the API does not know is refused with its place', () => {
    const wrong = requests.find((recording) => !legal.includes(recording));
    expect(() => decodeRequest(wrong!.request_body)).toThrow(
      expect.objectContaining({ name: 'RequestFault', param: 'contents[0].role' }),
    );
    expect(RequestFault).toBeDefined();
  });

  it('every signature of a call or an answer is sent again', () => {
    let seen = 0;
    for (const recording of legal) {
      const body = JSON.stringify(roundTrip(recording, 'vertex').body);
      for (const [, signature] of JSON.stringify(recording.request_body).matchAll(
        /"thought_?[sS]ignature":"([^"]+)"/g,
      )) {
        seen += 1;
        expect(body).toContain(signature);
      }
    }
    expect(seen).toBeGreaterThan(100);
  });

  it('no id of a call reaches Vertex', () => {
    for (const recording of legal) {
      const body = JSON.stringify(roundTrip(recording, 'vertex').body.contents);
      expect(body).not.toMatch(/"function(?:Call|Response)":\{"id"/);
    }
  });
});
