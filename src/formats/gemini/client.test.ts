import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import type { BodyEdit, SearchableBody } from '../body-view.ts';
import { writeEnvelope } from '../envelope.ts';
import { clientContext, requestTarget, replyWith } from '../contexts.testkit.ts';
import { generation, seed, toEvents } from '../generations.testkit.ts';
import { rechunk } from '../laws.testkit.ts';
import { gemini, geminiArray } from './index.ts';
import { SKIP_SIGNATURE } from './thought-signature.ts';
import { chunksOfPlain, toArray, toSse } from './stream.testkit.ts';

const client = clientContext();
const error = { status: 503, message: 'm', type: 't', code: null, param: null, requestId: 'r' };
const bodyOf = (body: JsonObject): SearchableBody => ({
  has: (key) => Object.hasOwn(body, key),
  value: (key) => body[key],
  contains: (text) => JSON.stringify(body).includes(text),
  mayMatch: () => true,
});
/** Paths of an edit have one key or two. */
function applied(body: JsonObject, { path: [key = '', inner], value }: BodyEdit): JsonObject {
  const { [key]: old, ...rest } = body;
  if (inner !== undefined) return { ...body, [key]: { ...Object(old), [inner]: value } };
  return value === undefined ? rest : { ...body, [key]: value };
}
const recordsOf = (sse: string): unknown[] =>
  sse
    .split('\r\n\r\n')
    .filter(Boolean)
    .map((record) => JSON.parse(record.replace(/^data: /, '')) as unknown);

interface Answer {
  readonly candidates?: readonly { readonly content?: { readonly parts?: readonly object[] } }[];
}

describe('a client of this API', () => {
  it.each([
    [{}, true],
    [{ generationConfig: { thinkingConfig: { includeThoughts: true } } }, false],
    [{ generation_config: { thinking_config: { include_thoughts: true } } }, false],
    [{ generationConfig: { thinkingConfig: { includeThoughts: false, thinkingBudget: 9 } } }, true],
    [{ generationConfig: null }, true],
  ])('that sends %j gets no thoughts: %s', (body, hidden) => {
    const options = gemini.readClient(bodyOf({ contents: [], ...body }), { id: 'x', strict: !hidden });
    expect(options).toEqual({ id: 'x', strict: hidden, hideThoughts: hidden, includeUsage: true });
  });

  it('that asks for no thoughts gets neither thoughts nor signatures outside calls, plain and streamed', () => {
    const hiding = clientContext({ hideThoughts: true });
    fc.assert(
      fc.property(generation({ thinking: true, signatures: true, thoughtsBy: 'claude' }), (generated) => {
        const events = toEvents(generated);
        const records = [replyWith(gemini, events, hiding), ...recordsOf(gemini.encodeStream(hiding).push(events))];
        const parts = records
          .flatMap((record) => (record as Answer).candidates ?? [])
          .flatMap(({ content }) => content?.parts ?? []);
        for (const part of parts) {
          expect(part).not.toHaveProperty('thought');
          // Google signs calls whatever `includeThoughts` says: the next request needs the signature.
          if (!('functionCall' in part)) expect(part).not.toHaveProperty('thoughtSignature');
        }
      }),
    );
  });
});

describe('a stream for a client without alt=sse', () => {
  const encoded = (pushes: number) =>
    fc.assert(
      fc.property(generation({ thinking: true, choices: 2 }), (generated) => {
        const events = toEvents(generated, 7);
        const encoders = [gemini.encodeStream(client), geminiArray.encodeStream(client)];
        const step = Math.ceil(events.length / pushes);
        const [sse = '', array = ''] = encoders.map((encoder) => {
          let sent = '';
          for (let at = 0; at < events.length; at += step) sent += encoder.push(events.slice(at, at + step));
          return sent;
        });
        expect(JSON.parse(array)).toEqual(recordsOf(sse));
      }),
    );

  it('is one JSON array of the records of the other form', () => {
    encoded(1);
    encoded(5);
  });

  it('passes an upstream’s records through, each byte for byte, in any split', () => {
    fc.assert(
      fc.property(generation({ thinking: true }), seed, fc.boolean(), (generated, random, isArray) => {
        const chunks = chunksOfPlain(replyWith(gemini, toEvents(generated), client), random);
        const through = geminiArray.passThrough.open(client, true);
        const pieces = rechunk(Buffer.from(isArray ? toArray(chunks) : toSse(chunks)), random);
        const sent = Buffer.concat(
          [...pieces.map((piece) => through.push(piece)), through.end()].flatMap((one) => one ?? []),
        );
        expect(JSON.parse(sent.toString())).toEqual(chunks);
        if (!isArray) expect(sent.toString()).toBe(`[${chunks.map((chunk) => JSON.stringify(chunk)).join(',\r\n')}]`);
        expect(through.signals).toMatchObject({ ended: true, failure: undefined });
      }),
    );
  });

  it('that breaks is still an array, whose last element is the error', () => {
    const record = { candidates: [{ content: { parts: [{ text: 'a' }] } }] };
    const through = geminiArray.passThrough.open(client, true);
    const sent = [through.push(Buffer.from(`${toSse([record])}data: {"cand`)), through.end()];
    expect(through.signals.failure).toBeDefined();
    const whole = sent.map((piece) => piece?.toString() ?? '').join('') + geminiArray.encodeStreamError(error, true);
    expect(JSON.parse(whole)).toMatchObject([record, { error: { code: 503, status: 'UNAVAILABLE' } }]);
    expect(JSON.parse(geminiArray.encodeStreamError(error, false))).toMatchObject([{ error: { code: 503 } }]);
  });
});

describe('the content of another provider in a body for Gemini', () => {
  const of = (signature: string): string => Buffer.from(signature).toString('base64');
  const thinking = of(writeEnvelope({ kind: 'thinking', maker: 'claude', signature: 'c2ln' }));
  const call = of(writeEnvelope({ kind: 'signature', maker: 'other', signature: 'c2ln', of: 'call' }));
  const cleaned = (contents: readonly JsonObject[], model = 'gemini-2.5-flash') =>
    gemini.passThrough.clean(bodyOf({ contents }), requestTarget({ model }));

  it('is removed and reported, and Gemini’s own stays', () => {
    const own = { text: 'b', thoughtSignature: 'R2VtaW5p' };
    const parts = [
      { text: 'thought', thought: true, thoughtSignature: thinking },
      { functionCall: { name: 'f', args: {} }, thought_signature: call },
      { text: '', thoughtSignature: call },
      own,
    ];
    const found = cleaned([
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts },
    ]);
    expect(found?.edits).toEqual([
      {
        path: ['contents'],
        value: [
          { role: 'user', parts: [{ text: 'hi' }] },
          { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }, own] },
        ],
        source: 'gateway',
      },
    ]);
    expect(found?.losses.map(({ param }) => param)).toEqual([
      'contents[1].parts[0]',
      'contents[1].parts[1].thoughtSignature',
      'contents[1].parts[2].thoughtSignature',
    ]);
  });

  it('leaves the escape value on the first call for Gemini 3', () => {
    const parts = [{ functionCall: { name: 'f', args: {} }, thoughtSignature: call }, { functionCall: { name: 'g' } }];
    const [edit] = cleaned([{ role: 'model', parts }], 'gemini-3-pro')?.edits ?? [];
    expect(edit?.value).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'f', args: {} }, thoughtSignature: SKIP_SIGNATURE },
          { functionCall: { name: 'g' } },
        ],
      },
    ]);
  });

  it('changes nothing where there is none', () => {
    expect(cleaned([{ role: 'model', parts: [{ text: 'a', thoughtSignature: 'R2VtaW5p' }] }])).toBeUndefined();
    expect(cleaned([{ role: 'user', parts: [{ text: 'about Z2gx' }] }])).toBeUndefined();
  });
});

describe('a count of tokens', () => {
  const request = { contents: [{ parts: [{ text: 'hi' }] }], systemInstruction: { parts: [{ text: 's' }] } };
  const direct = requestTarget({ host: 'direct', model: 'm' });
  const vertex = requestTarget({ host: 'vertex', model: 'm' });
  const edited = (body: JsonObject, target: typeof direct) =>
    gemini.counting.edits(bodyOf(body), target).reduce(applied, body);
  const nested = { generateContentRequest: { model: 'models/m', ...request } };

  it('is written in the form of its host', () => {
    expect(gemini.counting.write(request, direct)).toEqual(nested);
    expect(gemini.counting.write(request, vertex)).toEqual(request);
    expect(gemini.counting.write({ contents: [] }, direct)).toEqual({ contents: [] });
    expect(edited(request, direct)).toEqual(nested);
    expect(edited(request, vertex)).toEqual(request);
    expect(edited({ contents: [] }, direct)).toEqual({ contents: [] });
    expect(edited({ generate_content_request: { model: 'models/@a/x', ...request } }, vertex)).toEqual(request);
    expect(edited({ generateContentRequest: { ...request, model: 'models/@a/x' } }, direct)).toEqual(nested);
  });

  it('of a whole request is the conversation of that request', () => {
    const { model: _, ...whole } = gemini.decodeRequest({ ...nested, model: 'm' });
    const { model: __, ...plain } = gemini.decodeRequest({ ...request, model: 'm' });
    expect(whole).toEqual(plain);
  });
});
