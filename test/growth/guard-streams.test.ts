import { describe, expect, test } from 'vitest';
import { searchFor } from '../../src/addons/guards/search/index.ts';
import { maskingStream } from '../../src/addons/guards/search/scan.ts';
import { clientContext } from '../../src/formats/contexts.testkit.ts';
import { formats } from '../../src/formats/index.ts';
import { ReplyTexts, type TextForm } from '../../src/formats/texts/reply-texts.ts';
import { growthOf, MOST_GROWTH } from './measure.ts';

const SECRETS = searchFor('pii', { kinds: ['email', 'phone', 'card', 'iban', 'ssn', 'ip', 'secret'] })!;

type Name = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini';

const STREAMS: readonly (readonly [title: string, name: Name, form: TextForm])[] = [
  ['chat', 'openai-chat', 'sse'],
  ['Messages', 'anthropic-messages', 'sse'],
  ['Responses', 'openai-responses', 'sse'],
  ['Gemini', 'gemini', 'sse'],
  ['Gemini as a JSON array', 'gemini', 'json-array'],
];

/** The events of a stream whose text begins a match at every place, and now and then has one. */
function eventsOf(name: Name, form: TextForm, bytes: number): readonly Buffer[] {
  const encoder = formats[name].encodeStream(clientContext({ strict: false, hideThoughts: false }));
  const events = [Buffer.from(encoder.push([{ type: 'start', id: 'r', model: 'm' }]))];
  let size = 0;
  for (let at = 0; size < bytes; at += 1) {
    const text = at % 50 === 49 ? ' ann@example.com ' : '4111 1111-1 sk-';
    const event = Buffer.from(encoder.push([{ type: 'text', choice: 0, block: 0, text }]));
    size += event.length;
    events.push(event);
  }
  events.push(Buffer.from(encoder.push([{ type: 'finish', choice: 0, reason: 'stop' }, { type: 'end' }])));
  if (form === 'sse') return events;
  const items = events
    .map((event) =>
      event
        .toString()
        .replace(/^data: /, '')
        .trim(),
    )
    .filter((item) => item !== '');
  return items.map((item, at) =>
    Buffer.from(`${at === 0 ? '[' : ',\r\n'}${item}${at === items.length - 1 ? ']' : ''}`),
  );
}

function masked(events: readonly Buffer[], { name, form }: { readonly name: Name; readonly form: TextForm }): number {
  let matches = 0;
  const open = () => maskingStream(SECRETS, () => (matches += 1));
  const texts = new ReplyTexts({ layout: formats[name].texts!.reply, form, open, signed: false });
  for (const event of events) texts.push(event);
  texts.end();
  return matches;
}

describe('The cost of a guard of a stream', () => {
  test.each(STREAMS)('grows with the bytes of %s', { timeout: 240_000 }, (_, name, form) => {
    expect(masked(eventsOf(name, form, 20_000), { name, form })).toBeGreaterThan(0);
    const { factor } = growthOf((bytes) => {
      const events = eventsOf(name, form, bytes);
      return () => void masked(events, { name, form });
    });
    expect(factor).toBeLessThan(MOST_GROWTH);
  });
});
