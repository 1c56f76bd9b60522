import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accumulated } from '../../src/formats/openai-responses/sdk.testkit.ts';
import { errorFindings } from './error-findings.ts';
import { corpusIsThere, forAll, judges, modelOf, ReplayedFamily, type Json, type Recording } from './recordings.ts';
import { callsOf, isComplete, recordedResponse, textOf, type Shown } from './shown-response.ts';

const isAnswer = ({ op, response_status: status, response_body_kind: kind, response_body: body }: Recording): boolean =>
  op === 'responses' &&
  status === 200 &&
  kind !== 'none' &&
  (typeof body === 'string' || (body as Json)?.object === 'response');

describe.skipIf(!corpusIsThere)('recorded replies of the Responses API', () => {
  let family: ReplayedFamily;
  beforeAll(async () => {
    family = await ReplayedFamily.open('openai-responses');
  });
  afterAll(() => family.close());

  it.each(['true', 'false'])(
    'pass both ways as they are, cut at any byte: strict %s',
    { timeout: 300_000 },
    async (strict) => {
      const { checkPassthrough } = await judges();
      const records = family.records.filter((record) => isAnswer(record) || record.response_status >= 400);
      expect(records.length).toBeGreaterThan(300);
      const findings = await forAll(records, async (record) => {
        // Without a store of upstreams nothing runs in the background. Fixtures of replies have no request.
        const { background: _, ...body } = record.request_body ?? { input: 'replay', stream: record.is_stream };
        const asked = { ...body, model: modelOf(record) };
        const answer = await family.ask('/v1/responses', asked, { 'x-gateway-strict-open-ai-compliance': strict });
        if (answer.sse !== undefined) await accumulated(answer.sse);
        const sent = family.sent(record.id);
        const found = [
          ...(record.response_status >= 400
            ? errorFindings(record, answer)
            : checkPassthrough(record, answer).findings),
          ...(isSent(asked, sent) ? [] : [{ rule: 'sent', asked, sent }]),
        ];
        return found.map((finding) => ({ id: record.id, ...finding }));
      });
      expect(findings).toEqual([]);
    },
  );

  it(
    'come out as streams that the SDK of OpenAI assembles, also where a plain reply was recorded',
    { timeout: 300_000 },
    async () => {
      const records = family.records.filter((record) => isAnswer(record) && !record.is_stream);
      expect(records.length).toBeGreaterThan(200);
      const findings = await forAll<Recording, object>(records, async (record) => {
        const { id } = record;
        const { status, sse = '' } = await family.ask('/v1/responses', {
          model: modelOf(record),
          input: 'replay',
          stream: true,
        });
        const response = (await accumulated(sse).catch((error: unknown) => ({ error: String(error) }))) as Shown;
        const wanted = recordedResponse(record.response_body);
        const isRight =
          response.status === wanted.status &&
          textOf(response) === textOf(wanted) &&
          isDeepStrictEqual(callsOf(response), callsOf(wanted));
        return isRight ? [] : [{ id, status, wanted, response }];
      });
      expect(findings).toEqual([]);
    },
  );

  it.each([true, false])('reach chat clients whole (strict: %s)', { timeout: 300_000 }, async (strict) => {
    const records = family.records.filter(
      (record) => isAnswer(record) && isComplete(recordedResponse(record.response_body)),
    );
    const findings = await forAll<Recording, object>(records, async (record) => {
      const body = {
        model: modelOf(record),
        messages: [{ role: 'user', content: 'replay' }],
        ...(record.is_stream && { stream: true }),
      };
      const headers = { 'x-gateway-strict-open-ai-compliance': String(strict) };
      const answer = await family.ask('/v1/chat/completions', body, headers);
      const wanted = recordedResponse(record.response_body);
      const { text, calls } = chatAnswer(answer);
      const found: object[] = [];
      if (!text.endsWith(textOf(wanted)))
        found.push({ id: record.id, wanted: textOf(wanted), text, status: answer.status });
      if (JSON.stringify(calls) !== JSON.stringify(callsOf(wanted)) && !hasCustom(wanted))
        found.push({ id: record.id, calls });
      return found;
    });
    expect(findings).toEqual([]);
  });
});

/** Some records continue others: the gateway keeps a response that went through it, and sends its conversation in place of its id. */
const isSent = (asked: Json, sent: Json | null | undefined): boolean =>
  isDeepStrictEqual({ ...sent, model: asked['model'] }, asked) ||
  (asked['previous_response_id'] !== undefined && sent != null && !('previous_response_id' in sent));

const hasCustom = ({ output = [] }: Shown): boolean => output.some(({ type }) => type === 'custom_tool_call');

interface Choice {
  readonly index?: number;
  readonly message?: Message;
  readonly delta?: Message;
}
interface Message {
  readonly content?: string | null;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly function?: { name?: string; arguments?: string };
  }[];
}

function chatAnswer({ body, sse }: { readonly body: unknown; readonly sse: string | undefined }) {
  const chunks =
    sse === undefined
      ? [body as { choices?: readonly Choice[] }]
      : sse
          .split('\n\n')
          .flatMap((record) =>
            record.startsWith('data: {') ? [JSON.parse(record.slice(6)) as { choices?: readonly Choice[] }] : [],
          );
  let text = '';
  const calls: [string, string][] = [];
  for (const { choices = [] } of chunks) {
    // A response has one answer.
    const choice = choices.find(({ index = 0 }) => index === 0);
    const message = choice?.message ?? choice?.delta;
    text += message?.content ?? '';
    for (const [at, { index = at, function: fn }] of (message?.tool_calls ?? []).entries()) {
      calls[index] ??= [fn?.name ?? '', ''];
      calls[index][1] += fn?.arguments ?? '';
    }
  }
  return { text, calls: calls.map(([name, args]) => [name, JSON.parse(args || '{}')]) };
}
