import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorFindings } from './error-findings.ts';
import { corpusIsThere, forAll, judges, modelOf, ReplayedFamily } from './recordings.ts';

/** Families that clients of the same API are served from, by the operation of theirs that the gateway has. */
const FAMILIES = [
  ['openai-chat', '/v1/chat/completions'],
  ['openai-embeddings', '/v1/embeddings'],
  ['openai-images', '/v1/images/generations'],
] as const;

describe.skipIf(!corpusIsThere).each(FAMILIES)('recorded exchanges of %s through %s', (name, path) => {
  let family: ReplayedFamily;
  beforeAll(async () => {
    family = await ReplayedFamily.open(name);
  });
  afterAll(() => family.close());

  it('pass both ways as they are, but for the model', { timeout: 300_000 }, async () => {
    const { checkPassthrough } = await judges();
    const records = family.records.filter((record) => record.path === path && record.request_body);
    expect(records.length).toBeGreaterThan(0);
    const findings = await forAll(records, async (record) => {
      const asked = { ...record.request_body, model: modelOf(record) };
      const answer = await family.ask(path, asked, { 'x-gateway-strict-open-ai-compliance': 'false' });
      const sent = family.sent(record.id);
      const found = [
        ...(record.response_status >= 400 ? errorFindings(record, answer) : checkPassthrough(record, answer).findings),
        ...(isDeepStrictEqual(wanted(asked), { ...sent, model: asked.model }) ? [] : [{ rule: 'sent', asked, sent }]),
      ];
      return found.map((finding) => ({ id: record.id, ...finding }));
    });
    expect(findings).toEqual([]);
  });
});

/**
 * Usage is counted whether the client asks for it or not. Empty fields of OpenAI's replies do not go to other servers
 * (docs/protocols/openai-chat.md).
 */
function wanted(asked: Readonly<Record<string, unknown>>): object {
  if (!Array.isArray(asked['messages'])) return asked;
  const messages = asked['messages'].map(withoutEmptyFields);
  if (asked['stream'] !== true) return { ...asked, messages };
  return { ...asked, messages, stream_options: { ...Object(asked['stream_options']), include_usage: true } };
}

function withoutEmptyFields(message: Readonly<Record<string, unknown>>): object {
  const { refusal, annotations, ...others } = message;
  if (message['role'] !== 'assistant') return message;
  const isListed = Array.isArray(annotations) ? annotations.length > 0 : annotations !== undefined;
  return { ...others, ...(refusal !== undefined && refusal !== null && { refusal }), ...(isListed && { annotations }) };
}
