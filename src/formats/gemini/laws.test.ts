import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { fold, type Generation } from '../streams/fold.ts';
import { type Abilities, generation, joinNeighbours, seed, toEvents } from '../generations.testkit.ts';
import {
  decodeAll,
  expectNoiseIgnored,
  expectOneTerminal,
  expectRechunkingKeepsEvents,
  expectSameArguments,
  expectSameFold,
  expectUsageOnce,
  rechunk,
} from '../laws.testkit.ts';
import { clientContext, deepFreeze, replyContext, replyWith } from '../contexts.testkit.ts';
import { dataOf } from './framing.ts';
import { gemini } from './index.ts';
import { chunksOfPlain, toArray, toSse } from './stream.testkit.ts';

const abilities: Abilities = {
  choices: 2,
  thinking: true,
  signatures: true,
  thoughtsBy: 'gemini',
  textSignatures: true,
  callSignatures: true,
  media: true,
};
const reply = generation(abilities);
const client = clientContext();
const plainBody = (events: readonly GenerationEvent[]) => replyWith(gemini, events, client);
const decodePlain = (events: readonly GenerationEvent[]) => gemini.decodeReply(plainBody(events), replyContext());
const open = () => gemini.decodeStream(replyContext());

/** Removes the ids that the decoder derives, the native reason that Gemini always has, the raw form of usage, and the number of pictures. */
const see = ({ id, rawUsage: _, choices, usage, ...rest }: Generation) => ({
  ...rest,
  usage: usage && { ...usage, images: undefined },
  id: id?.replace(/^chatcmpl-/, ''),
  choices: choices.map(({ native: _, ...choice }) => choice),
});

describe('laws of the Gemini format', () => {
  it('a plain reply decodes to what was encoded', () => {
    fc.assert(
      fc.property(reply, (generated) => {
        const joined = generated.choices.map((choice) => ({ ...choice, blocks: joinNeighbours(choice.blocks) }));
        expectSameFold(decodePlain(toEvents(generated)), toEvents({ ...generated, choices: joined }), see);
      }),
    );
  });

  it('Google’s stream of a reply folds to its plain form, in any split, as SSE or as an array', () => {
    fc.assert(
      fc.property(reply, seed, fc.constantFrom('\r\n', '\n', 'array'), (generated, cuts, framing) => {
        const body = plainBody(toEvents(generated));
        const chunks = chunksOfPlain(body, cuts);
        const text = framing === 'array' ? toArray(chunks) : toSse(chunks, framing);
        const events = expectRechunkingKeepsEvents(open, Buffer.from(text), cuts);
        const plain = gemini.decodeReply(body, replyContext());
        expectOneTerminal(events);
        expectUsageOnce(events);
        expectSameArguments(events, plain);
        expectSameFold(events, plain, (generation) => ({
          ...generation,
          rawUsage: undefined,
          choices: generation.choices,
        }));
      }),
    );
  });

  it('the gateway’s stream for a client folds to its plain reply', () => {
    fc.assert(
      fc.property(reply, seed, (generated, cuts) => {
        const events = toEvents(generated, cuts);
        const encoder = gemini.encodeStream(client);
        const text = events.map((event) => encoder.push([event])).join('');
        const decoded = expectRechunkingKeepsEvents(open, Buffer.from(text), cuts);
        expectOneTerminal(decoded);
        expectSameFold(decoded, decodePlain(events), (generation) => ({ ...generation, rawUsage: undefined }));
      }),
    );
  });

  it('batches of events and single events make the same stream', () => {
    fc.assert(
      fc.property(reply, seed, (generated, cuts) => {
        const events = toEvents(generated, cuts);
        const whole = decodeAll(open(), [Buffer.from(gemini.encodeStream(client).push(events))]);
        const encoder = gemini.encodeStream(client);
        const single = decodeAll(open(), [Buffer.from(events.map((event) => encoder.push([event])).join(''))]);
        expectSameFold(whole, single);
      }),
    );
  });

  it('a stream cut anywhere ends in exactly one terminal event', () => {
    fc.assert(
      fc.property(reply, seed, fc.nat(), (generated, cuts, at) => {
        const bytes = Buffer.from(toSse(chunksOfPlain(plainBody(toEvents(generated)), cuts)));
        const events = decodeAll(open(), rechunk(bytes.subarray(0, at % bytes.length), cuts));
        expectOneTerminal(events);
      }),
    );
  });

  it('unknown records change nothing', () => {
    const noise = [': keep-alive\r\n\r\n', 'event: ping\r\n\r\n', 'data: {"newField":{"a":1}}\r\n\r\n'];
    fc.assert(
      fc.property(reply, seed, (generated, cuts) => {
        const chunks = chunksOfPlain(plainBody(toEvents(generated)), cuts);
        // The first record has id and model; an unknown record before it would begin the reply without them.
        const [first, ...others] = chunks;
        const stream = toSse([first]) + toSse(others);
        expectNoiseIgnored(open, stream, noise.slice(0, 2), cuts);
        const known = decodeAll(open(), [Buffer.from(stream)]);
        const noisy = decodeAll(open(), [Buffer.from(toSse([first]) + noise[2] + toSse(others))]);
        expect(noisy).toEqual(known);
      }),
    );
  });

  it('arbitrary bytes end in one terminal event and never throw', () => {
    const line = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => `data: ${JSON.stringify(value)}\n\n`),
      fc.jsonValue().map((value) => `[${JSON.stringify({ candidates: value })}`),
      fc.jsonValue().map((value) => `data: ${JSON.stringify({ candidates: [{ content: { parts: [value] } }] })}\n\n`),
    );
    fc.assert(
      fc.property(fc.array(line), seed, (lines, cuts) => {
        expectOneTerminal(decodeAll(open(), rechunk(Buffer.from(lines.join('')), cuts)));
      }),
    );
  });

  it('encoding a reply changes none of its events', () => {
    fc.assert(
      fc.property(reply, seed, (generated, cuts) => {
        const events = deepFreeze(toEvents(generated, cuts));
        replyWith(gemini, events, client);
        gemini.encodeStream(client).push(events);
      }),
    );
  });

  it('passing a stream through keeps its bytes, or those of an array’s elements, and has the signals of the decoder', () => {
    fc.assert(
      fc.property(reply, seed, fc.boolean(), (generated, cuts, array) => {
        const chunks = chunksOfPlain(plainBody(toEvents(generated)), cuts);
        const bytes = Buffer.from(array ? toArray(chunks) : toSse(chunks));
        const through = gemini.passThrough.open(client, true);
        const out = rechunk(bytes, cuts).map((piece) => through.push(piece) ?? Buffer.alloc(0));
        const sent = Buffer.concat([...out, through.end() ?? Buffer.alloc(0)]);
        if (array) expect(dataOf(sent.toString()).map((text) => JSON.parse(text) as unknown)).toEqual(chunks);
        else expect(sent).toEqual(bytes);
        const { usage, choices } = fold(decodeAll(open(), [bytes]));
        expect(through.signals).toMatchObject({
          usage,
          finish: choices.at(-1)?.finish,
          ended: true,
          failure: undefined,
        });
      }),
    );
  });
});
