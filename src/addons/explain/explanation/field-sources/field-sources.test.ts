import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finish } from '../../../../formats/steps.ts';
import { fieldSources } from './field-sources.ts';
import { keyOf, leavesOf } from './leaves.ts';
import { runs } from '../../../../../test/support/effort.ts';

const found = (...writing: Parameters<typeof fieldSources>) => finish(fieldSources(...writing));

const dotted = (writing: Parameters<typeof fieldSources>[0], maxProbes?: number) =>
  Object.fromEntries(
    found(writing, maxProbes).fields.map(({ path, from }) => [path.join('.'), from.map((one) => one.join('.'))]),
  );

type Json = Record<string, unknown>;
const write = (writer: (input: Json) => unknown) => (input: unknown) => writer(input as Json);

const word = fc.string({ minLength: 1, maxLength: 12 });
const json = fc.dictionary(
  word.filter((name) => name !== '__proto__'),
  fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' }),
  { maxKeys: 6 },
);

describe('fieldSources', () => {
  it('finds each field of an unchanged body to be its own source', () => {
    fc.assert(
      fc.property(json, (input) => {
        const { fields, complete } = found({ input, write: (same) => same }, 100_000);
        expect(complete).toBe(true);
        expect(fields.map(({ path }) => keyOf(path))).toEqual([...leavesOf(input).keys()]);
        for (const { path, from } of fields) if (path.length > 0) expect(from).toEqual([path]);
      }),
      { numRuns: runs(60) },
    );
  });

  it('finds fields under other names and in other places', () => {
    fc.assert(
      fc.property(json, (input) => {
        const writer = write((body) => ({
          v: 1,
          inside: { list: [Object.entries(body).map(([key, value]) => [key, { value }])] },
        }));
        for (const { path, from } of found({ input, write: writer }, 100_000).fields) {
          const [, , , index, side, , ...rest] = path;
          if (path[0] === 'v' || path.length < 5) expect(from).toEqual([]);
          else if (side === 1) expect(from).toEqual([[Object.keys(input)[Number(index)], ...rest]]);
        }
      }),
    );
  });

  it('never throws and never exceeds its probes, for any writer', () => {
    const writers = fc.constantFrom<(input: Json, random: number) => unknown>(
      (input, random) => (random < 0.5 ? input : fail()),
      (input) => Object.keys(input).length,
      (input) => JSON.stringify(input),
      (input, random) => ({ ...input, random }),
      () => undefined,
      fail,
    );
    fc.assert(
      fc.property(
        json,
        writers,
        fc.nat(40),
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        (input, writer, most, random) => {
          let writes = 0;
          const counting = write((body) => {
            writes += 1;
            return writer(body, random.next().value ?? 0);
          });
          const reported = found({ input, write: counting }, most);
          expect(reported.probes).toBeLessThanOrEqual(most);
          expect(writes).toBeLessThanOrEqual(most + 1);
        },
      ),
    );
  });

  it('does not change its input', () => {
    fc.assert(
      fc.property(json, (input) => {
        const before = structuredClone(input);
        found({ input, write: (same) => same });
        expect(input).toEqual(before);
      }),
    );
  });

  it.each<[string, Json, (input: Json) => unknown, Record<string, string[]>]>([
    [
      'several texts in one',
      { a: 'x', b: 'y' },
      ({ a, b }) => ({ text: `${String(a)} ${String(b)}` }),
      { text: ['a', 'b'] },
    ],
    ['a clamped number', { max: 99, top: 5 }, ({ max }) => ({ max: Math.min(Number(max), 50) }), { max: ['max'] }],
    [
      'an inverted flag',
      { parallel: true },
      ({ parallel }) => ({ disable: parallel === false }),
      { disable: ['parallel'] },
    ],
    [
      'a mapped word',
      { effort: 'medium' },
      ({ effort }) => ({ budget: BUDGETS[String(effort)] ?? fail() }),
      { budget: ['effort'] },
    ],
    ['a constant', { a: 'x' }, () => ({ version: '1' }), { version: [] }],
    [
      'a field that depends on a whole list',
      { tools: [{ name: 'f' }] },
      ({ tools }) => (tools ? { mode: 'AUTO' } : {}),
      { mode: ['tools'] },
    ],
    [
      'a field that depends on the presence of a word',
      { body: { effort: 'low', seed: 1 } },
      ({ body }) => thinking(body as Json),
      { seed: ['body.seed'], 'thinking.type': ['body.effort'], 'thinking.budget': ['body.effort'] },
    ],
    [
      'a field that depends on a choice, not on the list of options',
      { tools: [{ type: 'function', name: 'f' }], choice: { type: 'function', name: 'f' } },
      ({ tools, choice }) => ({ ...chosen(tools as Json[], choice as Json | undefined) }),
      { 'tools.0': ['tools.0.name', 'choice.name'], mode: ['choice'] },
    ],
    [
      'JSON in a string',
      { args: '{"city":"Bonn","days":2,"now":true}' },
      ({ args }) => ({ args: JSON.parse(String(args)) }),
      { 'args.city': ['args'], 'args.days': ['args'], 'args.now': ['args'] },
    ],
    [
      'both halves of a data URI',
      { url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB' },
      ({ url }) => dataUri(String(url)),
      { type: ['url'], data: ['url'] },
    ],
    [
      'the media type, from the file extension',
      { url: 'https://example.com/a.png' },
      ({ url }) => ({ url, type: KINDS[String(url).split('.').at(-1)!] ?? fail() }),
      { url: ['url'], type: ['url'] },
    ],
    [
      'ids that must agree',
      { call: 'c1', result: 'c1', text: 'x' },
      ({ call, result, text }) => (call === result ? { id: call, text } : fail()),
      { id: ['call', 'result'], text: ['text'] },
    ],
  ])('finds the sources of %s', (_, input, writer, expected) => {
    expect(dotted({ input, write: write(writer) })).toEqual(expected);
  });

  const turns = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `text ${index}`,
    }));

  /** Merges consecutive turns of one role, as in most APIs. */
  const merging = write(({ messages }) => {
    const merged: { who: string; parts: string[] }[] = [];
    for (const { role, content } of messages as ReturnType<typeof turns>) {
      if (role !== 'user' && role !== 'assistant') fail();
      const last = merged.at(-1);
      if (last?.who === role) last.parts.push(content);
      else merged.push({ who: role, parts: [content] });
    }
    return { contents: merged };
  });

  it('attributes each item to its own source, although a change in one moves all later ones', () => {
    const reported = dotted({ input: { messages: turns(60) }, write: merging });
    for (const index of turns(60).keys()) {
      expect(reported[`contents.${index}.who`]).toEqual([`messages.${index}.role`]);
      expect(reported[`contents.${index}.parts.0`]).toEqual([`messages.${index}.content`]);
    }
  });

  it('probes only a few of many similar leaves', () => {
    expect(found({ input: { messages: turns(400) }, write: merging }).probes).toBeLessThan(40);
  });

  it('attributes a field to its item when no probes are left', () => {
    const { fields, complete } = found({ input: { messages: turns(4) }, write: merging }, 1);
    const marked = found({ input: { messages: turns(4) }, write: merging }, 2);
    expect(complete).toBe(false);
    expect(fields.every(({ from }) => from.length === 0)).toBe(true);
    expect(
      Object.fromEntries(marked.fields.map(({ path, from }) => [path.join('.'), from.map((one) => one.join('.'))])),
    ).toMatchObject({
      'contents.2.who': ['messages.2'],
      'contents.2.parts.0': ['messages.2.content'],
    });
  });

  it('does not confuse a text with another one that was omitted with it', () => {
    const writer = write(({ type, text }) => ({ text: type === 'text' ? text : '' }));
    expect(dotted({ input: { type: 'text', text: 'Hi' }, write: writer })).toEqual({ text: ['text'] });
  });
});

const thinking = ({ effort, seed }: Json) => ({
  seed,
  ...(effort !== undefined && { thinking: { type: 'enabled', budget: BUDGETS[String(effort)] ?? fail() } }),
});

/** Without tools there is no tool choice; a choice of an unknown tool is rejected. */
function chosen(tools: readonly Json[] = [], choice: Json | undefined) {
  const names = tools.flatMap(({ type, name }) => (type === 'function' ? [name] : []));
  if (names.length === 0) return {};
  if (!choice) return { tools: names };
  return choice['type'] === 'function' && names.includes(choice['name']) ? { tools: names, mode: 'ANY' } : fail();
}

const BUDGETS: Record<string, number> = { low: 1, medium: 2, high: 3 };
const KINDS: Record<string, string> = { png: 'image/png', jpg: 'image/jpeg' };

function dataUri(url: string) {
  const [, type, data] = /^data:([^;]+);base64,((?:[A-Za-z0-9+/]{4})+(?:==|[A-Za-z0-9+/]=)?)$/.exec(url) ?? [];
  return data === undefined ? fail() : { type, data };
}

function fail(): never {
  throw new Error('refused');
}
