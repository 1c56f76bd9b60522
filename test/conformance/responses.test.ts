import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accumulated } from '../../src/formats/openai-responses/sdk.testkit.ts';
import {
  corpusIsThere,
  forAll,
  judges,
  modelOf,
  ownKeyFindings,
  refusesOwnKey,
  ReplayedFamily,
  type Json,
  type Recording,
} from './recordings.ts';

interface Item {
  readonly type: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly content?: readonly { readonly text?: string; readonly refusal?: string }[];
}
interface Shown {
  readonly status?: string;
  readonly output?: readonly Item[];
}

/** The response of a recording: its body, or that of its last event. */
function recorded({ response_body: body }: Recording): Shown {
  if (typeof body !== 'string') return body as Shown;
  const events = body.split(/\r?\n\r?\n/).flatMap((record) => {
    const data = /^data: ?(\{.*)$/m.exec(record)?.[1];
    return data === undefined ? [] : [JSON.parse(data) as { type: string; response?: Shown; item?: Item }];
  });
  const last = events.findLast(({ response }) => response)?.response ?? {};
  // Some servers leave the last `output` empty.
  const items = events.flatMap(({ type, item }) => (type === 'response.output_item.done' && item ? [item] : []));
  return last.output?.length ? last : { ...last, output: items };
}

const textOf = ({ output = [] }: Shown): string =>
  output
    .flatMap(({ content = [], type }) => (type === 'message' ? content : []))
    .map(({ text = '' }) => text)
    .join('');
const callsOf = ({ output = [] }: Shown): unknown[] =>
  output.flatMap(({ type, name, arguments: text }) =>
    type === 'function_call' ? [[name, JSON.parse(text || '{}')]] : [],
  );

const isAnswer = ({ op, response_status: status, response_body_kind: kind, response_body: body }: Recording): boolean =>
  op === 'responses' &&
  status === 200 &&
  kind !== 'none' &&
  (typeof body === 'string' || (body as Json)?.object === 'response');

const isComplete = (shown: Shown): boolean => shown.status === 'completed' || shown.status === 'incomplete';

describe.skipIf(!corpusIsThere)('recorded replies of the Responses API', () => {
  let family: ReplayedFamily;
  beforeAll(async () => {
    family = await ReplayedFamily.open('openai-responses');
  });
  afterAll(() => family.close());

  const ask = (path: string, record: Recording, more: object) =>
    family.ask(path, { model: modelOf(record), ...(record.is_stream && { stream: true }), ...more });

  it('pass through as they are, and the SDK reads every stream', { timeout: 300_000 }, async () => {
    const { checkPassthrough } = await judges();
    const records = family.records.filter(isAnswer);
    expect(records.length).toBeGreaterThan(200);
    const findings = await forAll(records, async (record) => {
      const answer = await ask('/v1/responses', record, {
        ...record.request_body,
        model: modelOf(record),
        background: undefined,
      });
      if (refusesOwnKey(record)) return ownKeyFindings(record, answer);
      const { findings: found } = checkPassthrough(record, answer);
      if (answer.sse !== undefined) await accumulated(answer.sse);
      return found.map((finding) => ({ id: record.id, ...finding }));
    });
    expect(findings).toEqual([]);
  });

  it.each([true, false])('reach chat clients whole (strict: %s)', { timeout: 300_000 }, async (strict) => {
    const records = family.records.filter((record) => isAnswer(record) && isComplete(recorded(record)));
    const findings = await forAll<Recording, object>(records, async (record) => {
      const body = {
        model: modelOf(record),
        messages: [{ role: 'user', content: 'replay' }],
        ...(record.is_stream && { stream: true }),
      };
      const headers = { 'x-gateway-strict-open-ai-compliance': String(strict) };
      const answer = await family.ask('/v1/chat/completions', body, headers);
      const wanted = recorded(record);
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

/** Families of other vendors through the Responses route: the SDK of OpenAI assembles every stream. */
describe.skipIf(!corpusIsThere).each(['anthropic', 'gemini', 'openai-chat'])('recorded replies of %s', (name) => {
  let family: ReplayedFamily;
  beforeAll(async () => {
    family = await ReplayedFamily.open(name);
  });
  afterAll(() => family.close());

  it(
    'come out as responses that the SDK of OpenAI assembles, with the text and the calls that chat clients get',
    { timeout: 300_000 },
    async () => {
      const judge = await judges();
      const records = family.records.filter(
        (record) =>
          record.response_status === 200 &&
          record.is_stream &&
          (name === 'openai-chat' ? record.op === 'chat.completions' : judge.derive(record).applicable),
      );
      expect(records.length).toBeGreaterThan(20);
      const findings = await forAll<Recording, object>(records, async (record) => {
        const body = {
          model: modelOf(record),
          input: 'replay',
          stream: true,
          reasoning: { effort: 'low', summary: 'auto' },
        };
        const { status, sse = '' } = await family.ask('/v1/responses', { ...body, max_output_tokens: 4096 });
        if (status !== 200) return [{ id: record.id, status }];
        try {
          const response = (await accumulated(sse)) as Shown;
          if (response.status === 'failed') return [];
          if (!isComplete(response)) return [{ id: record.id, response }];
          const messages = [{ role: 'user', content: 'replay' }];
          const chat = chatAnswer(await family.ask('/v1/chat/completions', { ...body, messages }));
          const found = { text: textOf(response), calls: callsOf(response) };
          return isDeepStrictEqual(found, chat) ? [] : [{ id: record.id, found, chat }];
        } catch (error) {
          return [{ id: record.id, error: String(error) }];
        }
      });
      expect(findings).toEqual([]);
    },
  );
});
