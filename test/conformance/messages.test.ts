import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkMessages, type Expected } from './check-messages.ts';
import { expectedOfGemini, expectedOfOpenAi } from './expected-messages.ts';
import {
  corpusIsThere,
  forAll,
  judges,
  modelOf,
  ownKeyFindings,
  refusesOwnKey,
  ReplayedFamily,
  type Json,
  type Judges,
  type Recording,
} from './recordings.ts';

const isNative = ({ op, path }: Recording): boolean =>
  ['messages', 'rawPredict', 'streamRawPredict'].includes(op) && !path.includes('/batches');

/** Generations another API answered, and what a Messages client should be told of them. */
function expectedOf(record: Recording, judge: Judges): Expected | undefined {
  if (record.family === 'openai-chat') return record.op === 'chat.completions' ? expectedOfOpenAi(record) : undefined;
  return expectedOfGemini(record, judge);
}

describe.skipIf(!corpusIsThere)('recorded upstream exchanges through /v1/messages', () => {
  describe.each(['anthropic', 'vertex-anthropic'])('of Claude (%s)', (name) => {
    let family: ReplayedFamily;
    beforeAll(async () => {
      family = await ReplayedFamily.open(name);
    });
    afterAll(() => family.close());

    it(
      'pass both ways as they are, but for the model and what Vertex has elsewhere',
      { timeout: 300_000 },
      async () => {
        const { checkPassthrough } = await judges();
        const records = family.records.filter(isNative);
        expect(records.length).toBeGreaterThan(0);
        const findings = await forAll(records, async (record) => {
          const answer = await family.ask('/v1/messages', bodyFor(record));
          if (refusesOwnKey(record)) return ownKeyFindings(record, answer);
          // An error has the gateway's text around the upstream's message.
          if (record.response_status >= 400) return errorFindings(record, answer);
          return [...checkPassthrough(record, answer).findings, ...sentFindings(record, family.sent(record.id))].map(
            (finding) => ({
              id: record.id,
              ...finding,
            }),
          );
        });
        expect(findings).toEqual([]);
      },
    );
  });

  describe.each(['gemini', 'vertex-gemini', 'openai-chat'])('of %s', (name) => {
    let family: ReplayedFamily;
    beforeAll(async () => {
      family = await ReplayedFamily.open(name);
    });
    afterAll(() => family.close());

    it.each([true, false])('come out as messages (thinking asked for: %s)', { timeout: 300_000 }, async (thinking) => {
      const judge = await judges();
      const known = family.records.flatMap((record) => {
        const expected = expectedOf(record, judge);
        return expected ? [{ record, expected }] : [];
      });
      expect(known.length).toBeGreaterThan(50);
      const findings = await forAll(known, async ({ record, expected }) => {
        const answer = await family.ask('/v1/messages', {
          model: modelOf(record),
          max_tokens: 4096,
          messages: [{ role: 'user', content: 'replay' }],
          ...(record.is_stream && { stream: true }),
          ...(thinking && { thinking: { type: 'enabled', budget_tokens: 1024 } }),
        });
        if (refusesOwnKey(record)) return ownKeyFindings(record, answer);
        return checkMessages(expected, answer, thinking).map((finding) => ({ id: record.id, ...finding }));
      });
      expect(findings).toEqual([]);
    });
  });
});

/** The recorded request, sent to where its recording is served. */
function bodyFor(record: Recording): object {
  const { request_body: body, is_stream: stream } = record;
  const recorded = body ?? {
    max_tokens: 64,
    messages: [{ role: 'user', content: 'replay' }],
    ...(stream && { stream }),
  };
  return { ...withoutVertex(recorded), model: modelOf(record) };
}

const withoutVertex = ({ anthropic_version: _, ...body }: Json): Json => body;

function sentFindings(record: Recording, sent: Json | null | undefined): object[] {
  if (!record.request_body) return [];
  if (!sent) return [{ rule: 'sent', expected: record.request_body, actual: sent }];
  const { model: _model, ...wanted } = withoutVertex(record.request_body);
  const { model: _sentModel, ...got } = withoutVertex(sent);
  return JSON.stringify(got) === JSON.stringify(wanted) ? [] : [{ rule: 'sent', expected: wanted, actual: got }];
}

function errorFindings(record: Recording, { status, body }: { status: number; body: unknown }): object[] {
  const reported = body as { type?: unknown; error?: { message?: string } };
  const { error } = record.response_body as { error: { message: string } };
  const ok =
    status === record.response_status && reported.type === 'error' && reported.error?.message?.includes(error.message);
  return ok ? [] : [{ id: record.id, rule: 'error', expected: error, actual: body }];
}
