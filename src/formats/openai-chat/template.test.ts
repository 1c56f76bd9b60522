import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PassThrough } from '../format.ts';
import { clientContext } from '../contexts.testkit.ts';
import { rechunk } from '../laws.testkit.ts';
import { seed } from '../generations.testkit.ts';
import { createSignals } from '../events.ts';
import { EventTemplate } from '../sse/event-template.ts';
import { mutatedStream } from '../sse/mutated-events.testkit.ts';
import { FREE_TEXT, StreamPassThrough } from './pass-through-stream.ts';
import { runs } from '../../../test/support/effort.ts';

const frame = '"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-ran"';
const chunk = (delta: string, more = '', finish = 'null'): string =>
  `data: {${frame},"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]${more}}\n\n`;

/** Chunks by their one text, as servers write them. */
const KINDS: Readonly<Record<string, (text: string) => string>> = {
  text: (text) => chunk(`{"content":"${text}"}`),
  'text with usage and padding': (text) =>
    chunk(`{"content":"${text}"}`, `,"usage":null,"obfuscation":"${text.length}"`),
  'text with usage in front': (text) =>
    `data: {"usage":null,"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`,
  arguments: (text) => chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"${text}"}}]}`),
  thoughts: (text) => chunk(`{"content":null,"reasoning_content":"${text}"}`),
  'a named event': (text) => `: comment\nevent: chunk\n${chunk(`{"content":"${text}"}`)}`,
  'two lines of data': (text) => chunk(`{"content":"${text}"}`).replace(',"choices"', ',\ndata: "choices"'),
};
const others = [
  chunk('{}', '', '"stop"'),
  chunk('{"role":"assistant","content":"a"}'),
  `data: {${frame},"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\n\n`,
  'data: {"error":{"message":"busy"}}\n\n',
  ': comment\n\n',
  'data: \n\n',
  '\n',
  '\ufeff',
  'data: [DONE]\n\n',
];

/** Compares no event with another. */
const none = new (class extends EventTemplate {
  override match(): number {
    return -1;
  }
})(FREE_TEXT);

class CountingTemplate extends EventTemplate {
  matches = 0;

  override match(text: string, from: number): number {
    const end = super.match(text, from);
    if (end > 0) this.matches += 1;
    return end;
  }
}

function pass(reader: PassThrough, pieces: readonly Buffer[]) {
  const sent = [...pieces.map((piece) => reader.push(piece)), reader.end()];
  return { sent: sent.map((piece) => piece?.toString('latin1')), signals: { ...reader.signals, text: undefined } };
}

describe('a stream whose events are compared with a template gets what it gets without', () => {
  it.each(Object.entries(KINDS))('%s', (kind, event) => {
    let matched = 0;
    const opening = Buffer.from(chunk('{"role":"assistant","content":"Hi"}') + event('a') + event('b') + event('c'));
    fc.assert(
      fc.property(
        mutatedStream(event, others),
        seed,
        fc.boolean(),
        fc.boolean(),
        (stream, cuts, strict, includeUsage) => {
          const client = clientContext({ strict, includeUsage });
          const pieces = [opening, ...rechunk(stream, cuts)];
          const plain = pass(new StreamPassThrough(client, createSignals(), none), pieces);
          const template = new CountingTemplate(FREE_TEXT);
          expect(pass(new StreamPassThrough(client, createSignals(), template), pieces)).toEqual(plain);
          matched += template.matches;
        },
      ),
      { numRuns: runs(400) },
    );
    // Events with a name are always parsed. Others among them may match by chance.
    if (kind !== 'a named event') expect(matched).toBeGreaterThan(0);
  });
});
