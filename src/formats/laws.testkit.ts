/**
 * Test support for every format: the laws a format must keep (generations.testkit.ts has its input). Format-neutral:
 * a law takes bytes or events and knows nothing of one format.
 *
 * Typical use in `<format>/laws.test.ts`:
 *
 *   fc.assert(fc.property(generation({ thinking: true }), seed, (blocks, seed) => {
 *     const bytes = Buffer.from(wireOf(blocks));
 *     expectRechunkingKeepsEvents(() => format.decodeStream(replyContext()), bytes, seed);
 *   }));
 */
import { expect } from 'vitest';
import type { GenerationEvent } from './events.ts';
import { random } from './generations.testkit.ts';
import type { Part } from './conversation.ts';
import { fold, type Generation } from './streams/fold.ts';
import type { StreamDecoder } from './format.ts';

// ---------------------------------------------------------------- bytes

/** Cuts bytes anywhere: inside UTF-8 characters, JSON, line ends. Small and large pieces, sometimes single bytes. */
export function rechunk(bytes: Buffer, seed: number): Buffer[] {
  const next = random(seed);
  const longest = [1, 3, 16, 200, 5000][Math.floor(next() * 5)]!;
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = 1 + Math.floor(next() * longest);
    // A copy, as a socket gives: a decoder must not rely on neighbouring bytes, nor keep a view of a reused buffer.
    pieces.push(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return pieces;
}

export function decodeAll(decoder: StreamDecoder, chunks: readonly Buffer[]): GenerationEvent[] {
  const events: GenerationEvent[] = [];
  for (const chunk of chunks) events.push(...decoder.push(chunk));
  events.push(...decoder.end());
  return events;
}

/** Puts extra SSE records (unknown event types, comments) between the records of a stream. */
export function withNoise(stream: string, noise: readonly string[], seed: number): string {
  const next = random(seed);
  return stream
    .split(/(?<=\r?\n\r?\n)/)
    .map((record) => (next() < 0.5 ? record : noise[Math.floor(next() * noise.length)]! + record))
    .join('');
}

// ---------------------------------------------------------------- laws

/** Law 1: the split of the bytes does not matter. `open` makes a fresh decoder with a fresh context. */
export function expectRechunkingKeepsEvents(open: () => StreamDecoder, bytes: Buffer, seed: number): GenerationEvent[] {
  const whole = decodeAll(open(), [bytes]);
  expect(decodeAll(open(), rechunk(bytes, seed))).toEqual(whole);
  return whole;
}

/** Law 2: exactly one `end` or `error`, and it is last. */
export function expectOneTerminal(events: readonly GenerationEvent[]): void {
  const terminals = events.filter((event) => event.type === 'end' || event.type === 'error');
  expect(terminals).toHaveLength(1);
  expect(events.at(-1)).toBe(terminals[0]);
}

/** Law 3: folding reports usage once, as the last report had it, never a sum of reports. */
export function expectUsageOnce(events: readonly GenerationEvent[]): void {
  const reports = events.filter((event) => event.type === 'usage');
  expect(fold(events).usage).toEqual(reports.at(-1)?.usage);
}

/** Arguments of every call, as `choice/call` → text. */
export function argumentsOf(events: readonly GenerationEvent[]): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const event of events) {
    if (event.type === 'tool_call') joined[`${event.choice}/${event.call}`] = '';
    else if (event.type === 'tool_arguments') joined[`${event.choice}/${event.call}`] += event.text;
  }
  return joined;
}

/** Law 4: the fragments of a stream are the arguments of the plain reply. */
export function expectSameArguments(stream: readonly GenerationEvent[], plain: readonly GenerationEvent[]): void {
  expect(argumentsOf(stream)).toEqual(argumentsOf(plain));
}

/** Law 5: a stream folds to the plain reply. `see` removes what the wire cannot express, on both sides. */
export function expectSameFold(
  stream: readonly GenerationEvent[],
  plain: readonly GenerationEvent[],
  see: (generation: Generation) => unknown = (generation) => generation,
): void {
  expect(see(fold(stream))).toEqual(see(fold(plain)));
}

/** Law 6: records the format does not know never throw, and change nothing. */
export function expectNoiseIgnored(
  open: () => StreamDecoder,
  stream: string,
  noise: readonly string[],
  seed: number,
): void {
  const clean = decodeAll(open(), [Buffer.from(stream)]);
  const noisy = decodeAll(open(), rechunk(Buffer.from(withNoise(stream, noise, seed)), seed));
  expect(noisy.filter((event) => event.type !== 'ping')).toEqual(clean.filter((event) => event.type !== 'ping'));
}

/** The parts of each choice, with neighbouring unsigned text joined: for comparing across wires that merge text blocks. */
export function joinedParts(generation: Generation): Part[][] {
  return generation.choices.map(({ parts }) => {
    const joined: Part[] = [];
    for (const part of parts) {
      const last = joined.at(-1);
      if (part.type === 'text' && part.text === '' && !part.signature) continue;
      if (last?.type === 'text' && part.type === 'text' && !last.signature && !part.signature) {
        joined[joined.length - 1] = { ...last, text: last.text + part.text };
      } else joined.push(part);
    }
    return joined;
  });
}
