import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { fold } from '../streams/fold.ts';
import { clientContext, deepFreeze, replyContext, requestTarget, encodeWith, replyWith } from '../contexts.testkit.ts';
import { decodeAll, expectOneTerminal, rechunk } from '../laws.testkit.ts';
import { seed } from '../generations.testkit.ts';
import { openaiChat } from './index.ts';
import { withJoinedTexts } from './joined-texts.testkit.ts';
import { isObject } from '../json/object.ts';

const file = resolve(import.meta.dirname, '../../../../shared/corpus/dev/openai-chat.jsonl');

interface Recorded {
  readonly id: string;
  readonly response_status: number;
  readonly response_body_kind: string;
  readonly request_body: JsonObject | null;
  readonly response_body: unknown;
}

function load(): Recorded[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recorded);
}

const records = load();
const answered = records.filter((record) => record.response_status === 200);
const plain = answered.filter((record) => record.response_body_kind === 'json');
const streams = answered.filter((record) => record.response_body_kind === 'sse');
const requests = records.filter((record) => isObject(record.request_body));
const refused = records.filter((record) => record.response_status >= 400);

const bytesOf = (record: Recorded): Buffer => Buffer.from(String(record.response_body));

/** Chunks of a recorded or written stream, parsed independently of the gateway's code. */
function chunksOf(text: string): JsonObject[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:') && !line.includes('[DONE]'))
    .map((line) => JSON.parse(line.slice(5)) as JsonObject);
}

interface Said {
  text: string;
  refusal: string;
  calls: { name: string; arguments: string }[];
  finish: unknown;
}

/** The result of a client that joins deltas, choice by choice. */
function said(chunks: readonly JsonObject[]): Record<string, Said> {
  const choices: Record<string, Said> = {};
  for (const chunk of chunks) {
    for (const choice of chunk.choices as JsonObject[]) {
      const one = (choices[String(choice.index)] ??= { text: '', refusal: '', calls: [], finish: undefined });
      const delta = choice.delta as JsonObject;
      one.text += (delta.content as string | null) ?? '';
      one.refusal += (delta.refusal as string | null) ?? '';
      for (const call of (delta.tool_calls as JsonObject[] | undefined) ?? []) {
        const fn = call.function as JsonObject;
        const known = (one.calls[call.index as number] ??= { name: String(fn.name), arguments: '' });
        known.arguments += fn.arguments as string;
      }
      one.finish = choice.finish_reason ?? one.finish;
    }
  }
  return choices;
}

describe.skipIf(records.length === 0)('recorded OpenAI traffic', () => {
  it('is all there', () => {
    expect(records.length).toBeGreaterThan(300);
    expect(streams.length).toBeGreaterThan(60);
  });

  it.each(plain.map((record) => [record.id, record] as const))('reads the plain reply %s', (_id, record) => {
    const body = record.response_body as JsonObject;
    const events = openaiChat.decodeReply(deepFreeze(body), replyContext());
    expectOneTerminal(events);
    const written = replyWith(openaiChat, events, clientContext()) as {
      choices: JsonObject[];
      usage: JsonObject;
      id: string;
      model: string;
    };
    expect([written.id, written.model]).toEqual([body.id, body.model]);
    (body.choices as JsonObject[]).forEach((choice, at) => {
      const message = choice.message as JsonObject;
      const got = written.choices[at]!.message as JsonObject;
      expect(got.content).toEqual(message.content);
      expect(got.refusal).toEqual(message.refusal ?? null);
      if (message.tool_calls) expect(got.tool_calls).toEqual(message.tool_calls);
      expect(got.function_call).toEqual(message.function_call);
      expect(got.audio).toEqual(message.audio);
      if (choice.logprobs) expect(written.choices[at]!.logprobs).toEqual(choice.logprobs);
    });
    expect(written.usage).toMatchObject({ prompt_tokens: (body.usage as JsonObject).prompt_tokens });
    const { choices: _, usage: __, ...envelope } = body;
    expect(written).toMatchObject(envelope);
  });

  it.each(streams.map((record) => [record.id, record] as const))('reads the stream %s in any split', (_id, record) => {
    const bytes = bytesOf(record);
    const whole = decodeAll(openaiChat.decodeStream(replyContext()), [bytes]);
    expectOneTerminal(whole);
    expect(whole.at(-1)).toEqual({ type: 'end' });
    fc.assert(
      fc.property(seed, (cuts) => {
        expect(decodeAll(openaiChat.decodeStream(replyContext()), rechunk(bytes, cuts))).toEqual(whole);
      }),
      { numRuns: 8 },
    );
  });

  it.each(streams.map((record) => [record.id, record] as const))(
    'sends a client the content of the stream %s',
    (_id, record) => {
      const events = decodeAll(openaiChat.decodeStream(replyContext()), [bytesOf(record)]);
      const written = openaiChat.encodeStream(clientContext()).push(events);
      const [upstream, client] = [said(chunksOf(String(record.response_body))), said(chunksOf(written))];
      expect(client).toEqual(upstream);
      // The plain body folds to the same result.
      const body = replyWith(openaiChat, events, clientContext()) as { choices: { message: JsonObject }[] };
      for (const [index, one] of Object.entries(client))
        expect(body.choices[Number(index)]!.message.content ?? '').toBe(one.text);
    },
  );

  it.each(streams.map((record) => [record.id, record] as const))(
    'passes the stream %s byte for byte',
    (_id, record) => {
      const bytes = bytesOf(record);
      fc.assert(
        fc.property(seed, (cuts) => {
          const reader = openaiChat.passThrough.open(clientContext({ includeUsage: true }), true);
          const out = [...rechunk(bytes, cuts).map((piece) => reader.push(piece)), reader.end()].filter(
            (piece) => piece !== undefined,
          );
          expect(Buffer.concat(out).equals(bytes)).toBe(true);
          const generation = fold(decodeAll(openaiChat.decodeStream(replyContext()), [bytes]));
          expect(reader.signals).toMatchObject({
            content: true,
            ended: true,
            failure: undefined,
            model: generation.model,
          });
          expect(reader.signals.usage).toEqual(generation.usage);
        }),
        { numRuns: 6 },
      );
    },
  );

  it.each(streams.map((record) => [record.id, record] as const))(
    'sends no usage of the stream %s to a client that did not request it',
    (_id, record) => {
      const bytes = bytesOf(record);
      const reader = openaiChat.passThrough.open(clientContext({ includeUsage: false }), true);
      const out = [...rechunk(bytes, 7).map((piece) => reader.push(piece)), reader.end()].filter(
        (piece) => piece !== undefined,
      );
      const left = chunksOf(Buffer.concat(out).toString('utf8'));
      const wanted = chunksOf(bytes.toString('utf8'))
        .filter((chunk) => (chunk.choices as unknown[]).length > 0 || !chunk.usage)
        .map(({ usage: _, ...chunk }) => chunk);
      expect(left).toEqual(wanted);
      expect(Buffer.concat(out).toString('utf8').trimEnd().endsWith('data: [DONE]')).toBe(true);
    },
  );

  it.each(plain.map((record) => [record.id, record] as const))(
    'passes the plain reply %s byte for byte',
    (_id, record) => {
      const bytes = Buffer.from(JSON.stringify(record.response_body));
      const reader = openaiChat.passThrough.open(clientContext(), false);
      for (const piece of rechunk(bytes, 3)) expect(reader.push(piece)).toBeUndefined();
      expect(reader.end()?.equals(bytes)).toBe(true);
      expect(reader.signals).toMatchObject({
        content: true,
        ended: true,
        model: (record.response_body as JsonObject).model,
      });
    },
  );

  it.each(requests.map((record) => [record.id, record] as const))(
    'decodes the request %s and encodes it again',
    (_id, record) => {
      const body = deepFreeze(record.request_body!);
      // The recordings include requests that OpenAI refused: the decoder reads them too, or refuses them by name.
      const conversation = deepFreeze(openaiChat.decodeRequest(body));
      const { body: written, losses } = encodeWith(
        openaiChat,
        conversation,
        requestTarget({ model: conversation.model }),
        replyContext(),
      );
      expect(losses).toEqual([]);
      expect(openaiChat.decodeRequest(written)).toEqual(withJoinedTexts(conversation));
    },
  );

  it.each(refused.map((record) => [record.id, record] as const))(
    'repeats the message of the refusal %s',
    (_id, record) => {
      const text =
        typeof record.response_body === 'string' ? record.response_body : JSON.stringify(record.response_body);
      const failure = openaiChat.decodeError(record.response_status, text);
      const { error } = record.response_body as { error: JsonObject };
      expect(failure).toMatchObject({ status: record.response_status, message: error.message });
      expect(failure.kind ?? null).toBe(error.type);
      expect(failure.code ?? null).toBe(error.code);
      expect(failure.param ?? null).toBe(error.param);
    },
  );
});
