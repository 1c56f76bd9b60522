import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../anthropic-messages/index.ts';
import type { GenerationEvent } from '../events.ts';
import type { ClientContext, Format } from '../format.ts';
import { gemini } from '../gemini/index.ts';
import { LiteralText, toBytes } from '../json/literal.ts';
import { clientContext, replyContext } from '../contexts.testkit.ts';
import { rechunk } from '../laws.testkit.ts';
import { seed } from '../generations.testkit.ts';
import { openaiChat } from '../openai-chat/index.ts';
import { openaiResponses } from '../openai-responses/index.ts';
import { mutatedStream } from '../sse/mutated-events.testkit.ts';
import { fold } from './fold.ts';
import { translatingReader, type Translation } from './readers.ts';
import { runs } from '../../../test/support/effort.ts';

/**
 * Every stream is translated twice: with texts that pass as literals, and by an encoder that takes none, so that every
 * event is parsed and every text is written anew.
 */

type Stream = (text: string) => string;

/** Events of Claude. */
const named = (type: string, fields: string): string => `event: ${type}\ndata: {"type":"${type}"${fields}}\n\n`;
const delta = (fields: string, index = 0, padding = ''): string =>
  named('content_block_delta', `,"index":${index},"delta":{${fields}}${padding}`);
const open = (index: number, block: string): string =>
  named('content_block_start', `,"index":${index},"content_block":${block}`);
const citation =
  '{"type":"web_search_result_location","url":"https://a.example","title":"A","cited_text":"c","encrypted_index":"e"}';
const claudeStart =
  named('message_start', ',"message":{"id":"msg_1","model":"claude-ran","content":[],"usage":{"input_tokens":3}}') +
  open(0, '{"type":"text","text":""}');
const claudeOthers = [
  named('ping', ''),
  named('content_block_stop', ',"index":0'),
  open(0, '{"type":"text","text":"again"}'),
  open(1, '{"type":"tool_use","id":"toolu_1","name":"f","input":{}}'),
  open(2, '{"type":"thinking","thinking":""}'),
  open(3, '{"type":"text","text":""}'),
  delta('"type":"thinking_delta","thinking":"hm"', 2),
  delta('"type":"signature_delta","signature":"c2ln"', 2),
  delta('"type":"input_json_delta","partial_json":"{}"', 1),
  delta('"type":"text_delta","text":"other block"', 3),
  delta('"type":"text_delta","text":"not open"', 7),
  delta(`"type":"citations_delta","citation":${citation}`),
  named('message_delta', ',"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}'),
  named('message_stop', ''),
  named('error', ',"error":{"type":"overloaded_error","message":"busy"}'),
  ': comment\n\n',
  '\n',
  '\ufeff',
];
const CLAUDE: readonly [string, Stream, boolean][] = [
  ['texts', (text) => delta(`"type":"text_delta","text":"${text}"`), true],
  ['padded texts', (text) => delta(`"type":"text_delta","text":"${text}"`, 0, ' '.repeat(text.length % 16)), true],
  ['texts with another field', (text) => delta(`"type":"text_delta","text":"${text}","more":1`), false],
];

/** Events of Gemini. */
const data = (json: string): string => `data: ${json}\n\n`;
const response = (parts: string, beside = ',"index":0', usage = '"trafficType":"ON_DEMAND"', more = ''): string =>
  data(
    `{"candidates": [{"content": {"parts": [${parts}],"role": "model"}${beside}}],"usageMetadata": {${usage}},"modelVersion": "gemini-ran","responseId": "r"${more}}`,
  );
const part = (text: string): string => `{"text": "${text}"}`;
const counts = (text: string): string =>
  `"promptTokenCount": 7,"candidatesTokenCount": ${text.length},"totalTokenCount": ${text.length + 7},"promptTokensDetails": [{"modality": "AUDIO","tokenCount": 2}],"thoughtsTokenCount": 3`;
const geminiStart = response(part('first'));
const grounding =
  '"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.example"}}],"groundingSupports":[{"segment":{"startIndex":1,"endIndex":9,"partIndex":1},"groundingChunkIndices":[0]}]}';
const geminiOthers = [
  response(part('done'), ',"finishReason":"STOP"', counts('done')),
  response(part('cited'), `,"index":0,${grounding}`),
  response(part('other'), ',"index":1'),
  response(`${part('two')},${part('parts')}`),
  response('{"text":"hm","thought":true}'),
  response('{"text":"signed","thoughtSignature":"c2ln"}'),
  response('{"functionCall":{"name":"f","args":{}}}'),
  response('{"functionCall":{"name":"f","willContinue":true}}'),
  response('{"functionCall":{}}'),
  response('{"inlineData":{"mimeType":"image/png","data":"AAAA"}}'),
  response(part('x'), ',"index":0', '"promptTokenCount":5,"candidatesTokenCount":0,"totalTokenCount":5'),
  response(part('x'), ',"index":0', '"candidatesTokenCount":1234567890123456789'),
  response(part('x'), ',"index":0', counts('x').replace(': 1,', ': 1e2,')),
  response(part('x'), ',"index":0,"safetyRatings":[{"category":"C"}]'),
  response(part('x'), ',"index":0,"logprobsResult":{"chosenCandidates":[{"token":"x","logProbability":-1}]}'),
  response(part('x'), ',"index":0', '"trafficType":"ON_DEMAND"', ',"promptFeedback":{"blockReason":"SAFETY"}'),
  data('{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}'),
  data(`[${geminiStart.slice(6, -2)}]`),
  data('[DONE]'),
  data('{'),
  ': comment\n\n',
  '\n',
  '\ufeff',
];
const GEMINI: readonly [string, Stream, boolean][] = [
  ['texts', (text) => response(part(text)), true],
  ['texts and counts', (text) => response(part(text), ',"index":0', counts(text)), true],
  ['texts after another text', (text) => response(part(text), ',"x":{"text":"y"}', counts(text)), true],
  ['texts before another text', (text) => response(part(text), '', '', `,"text":"${text}"`), false],
  ['texts behind an equal key', (text) => response(`{"text":"a","text":"${text}"}`, '', counts(text)), false],
  ['counts in quotes', (text) => response(part(text), '', `"totalTokenCount":"${text.length}"`), true],
  ['texts with empty grounding', (text) => response(part(text), ',"groundingMetadata":{}', counts(text)), true],
  ['texts of another answer', (text) => response(part(text), ',"index":2', counts(text)), true],
  ['texts and long counts', (text) => response(part(text), '', `"x":12345678901234567,${counts(text)}`), false],
  ['signed texts', (text) => response(`{"text":"${text}","thoughtSignature":"c2ln"}`), false],
];

interface Case {
  readonly name: string;
  readonly upstream: Format;
  readonly start: string;
  readonly event: Stream;
  readonly others: readonly string[];
  readonly fast: boolean;
}
const CASES: readonly Case[] = [
  ...CLAUDE.map(([name, event, fast]) => ({
    name: `Claude: ${name}`,
    upstream: anthropicMessages,
    start: claudeStart,
    event,
    others: claudeOthers,
    fast,
  })),
  ...GEMINI.map(([name, event, fast]) => ({
    name: `Gemini: ${name}`,
    upstream: gemini,
    start: geminiStart,
    event,
    others: geminiOthers,
    fast,
  })),
];

/** An encoder that takes no literals. */
const withoutLiterals = (client: Format): Translation['client'] => ({
  encodeReply: client.encodeReply,
  encodeStream(...given) {
    const encoder = client.encodeStream(...given);
    return { push: (events) => encoder.push(events) };
  },
});

/** The bytes that a client receives with each read, and what timeouts and telemetry see after it. */
function translated(
  { upstream }: Pick<Case, 'upstream'>,
  client: Translation['client'],
  context: ClientContext,
  pieces: readonly Buffer[],
): unknown[] {
  const translation = { upstream, client, reply: replyContext({ customTools: new Set() }), context };
  const reader = translatingReader(translation, true, 'text/event-stream');
  let seen = 0;
  return [...pieces, undefined].map((piece) => {
    const bytes = piece ? reader.push(piece) : reader.end();
    // Literals have more characters than their texts.
    const { progress, text: _, ...signals } = reader.signals;
    const moved = progress !== seen;
    seen = progress;
    return { text: bytes?.toString('utf8'), moved, signals: structuredClone(signals) };
  });
}

/** Counts the text events that have literals. */
function counting(client: Format, count: () => void): Translation['client'] {
  return {
    encodeReply: client.encodeReply,
    encodeStream(...given) {
      const encoder = client.encodeStream(...given);
      const pushBytes = (events: readonly GenerationEvent[]): Buffer | undefined => {
        if (events.some((event) => event.type === 'text' && event.literals)) count();
        return encoder.pushBytes!(events);
      };
      return { push: (events) => encoder.push(events), pushBytes };
    },
  };
}

describe.each([
  ['chat completions', openaiChat],
  ['Responses', openaiResponses],
] as const)(
  'a stream of %s whose texts pass as literals is the stream that decoding and writing them gives',
  (_, client) => {
    it.each(CASES)('$name', ({ fast, ...given }) => {
      let literals = 0;
      const streams = mutatedStream(given.event, [given.event('same'), ...given.others]);
      fc.assert(
        fc.property(
          streams,
          fc.boolean(),
          fc.boolean(),
          seed,
          fc.boolean(),
          (stream, strict, includeUsage, cuts, whole) => {
            const all = Buffer.concat([Buffer.from(given.start), stream]);
            const pieces = whole ? [all] : rechunk(all, cuts);
            const context = clientContext({ strict, includeUsage });
            const fastest = counting(client, () => (literals += 1));
            expect(translated(given, fastest, context, pieces)).toEqual(
              translated(given, withoutLiterals(client), context, pieces),
            );
          },
        ),
        { numRuns: runs(200) },
      );
      if (fast) expect(literals).toBeGreaterThan(0);
    });
  },
);

describe('an event of a run of texts', () => {
  const run = new LiteralText(0, 0, ['a', String.raw`\"b\n`, String.raw`\ud83d`, toBytes('é')]);

  it('has their joined text, for readers that decode it', () => {
    expect(run.text).toBe('a"b\n\ud83dé');
    expect(fold([run]).choices[0]?.parts).toEqual([{ type: 'text', text: 'a"b\n\ud83dé' }]);
  });
});
