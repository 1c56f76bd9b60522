import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldSources } from './field-sources.ts';
import { keyOf, leavesOf } from './leaves.ts';

const dotted = (writing: Parameters<typeof fieldSources>[0], maxProbes?: number) =>
  Object.fromEntries(
    fieldSources(writing, maxProbes).fields.map(({ path, from }) => [path.join('.'), from.map((one) => one.join('.'))]),
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
  it('says of a body that is written as it is that each field comes from itself', () => {
    fc.assert(
      fc.property(json, (input) => {
        const { fields, complete } = fieldSources({ input, write: (same) => same }, 100_000);
        expect(complete).toBe(true);
        expect(fields.map(({ path }) => keyOf(path))).toEqual([...leavesOf(input).keys()]);
        for (const { path, from } of fields) if (path.length > 0) expect(from).toEqual([path]);
      }),
      { numRuns: 60 },
    );
  });

  it('finds fields again under other names and in other places', () => {
    fc.assert(
      fc.property(json, (input) => {
        const writer = write((body) => ({
          v: 1,
          inside: { list: [Object.entries(body).map(([key, value]) => [key, { value }])] },
        }));
        for (const { path, from } of fieldSources({ input, write: writer }, 100_000).fields) {
          const [, , , index, side, , ...rest] = path;
          if (path[0] === 'v' || path.length < 5) expect(from).toEqual([]);
          else if (side === 1) expect(from).toEqual([[Object.keys(input)[Number(index)], ...rest]]);
        }
      }),
    );
  });

  it('never throws, and never writes more often than it may, whatever the writer does', () => {
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
          const reported = fieldSources({ input, write: counting }, most);
          expect(reported.probes).toBeLessThanOrEqual(most);
          expect(writes).toBeLessThanOrEqual(most + 1);
        },
      ),
    );
  });

  it('changes nothing of what it is given', () => {
    fc.assert(
      fc.property(json, (input) => {
        const before = structuredClone(input);
        fieldSources({ input, write: (same) => same });
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
      'a flag that says the contrary',
      { parallel: true },
      ({ parallel }) => ({ disable: parallel === false }),
      { disable: ['parallel'] },
    ],
    [
      'a word that has others for it',
      { effort: 'medium' },
      ({ effort }) => ({ budget: BUDGETS[String(effort)] ?? fail() }),
      { budget: ['effort'] },
    ],
    ['what is there by itself', { a: 'x' }, () => ({ version: '1' }), { version: [] }],
    [
      'what only a whole list brings',
      { tools: [{ name: 'f' }] },
      ({ tools }) => (tools ? { mode: 'AUTO' } : {}),
      { mode: ['tools'] },
    ],
    [
      'what is there because a word is, whatever it says',
      { body: { effort: 'low', seed: 1 } },
      ({ body }) => thinking(body as Json),
      { seed: ['body.seed'], 'thinking.type': ['body.effort'], 'thinking.budget': ['body.effort'] },
    ],
    [
      'what the choice among things brings, and not the things it chooses from',
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
      'the kind of a file, told by its ending',
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
  ])('tells %s', (_, input, writer, expected) => {
    expect(dotted({ input, write: write(writer) })).toEqual(expected);
  });

  const turns = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `text ${index}`,
    }));

  /** Turns of one role in a row become one, as in most APIs. */
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

  it('tells of each item by that item, although a change in one moves all behind it', () => {
    const reported = dotted({ input: { messages: turns(60) }, write: merging });
    for (const index of turns(60).keys()) {
      expect(reported[`contents.${index}.who`]).toEqual([`messages.${index}.role`]);
      expect(reported[`contents.${index}.parts.0`]).toEqual([`messages.${index}.content`]);
    }
  });

  it('asks about a few of a kind, however many there are', () => {
    expect(fieldSources({ input: { messages: turns(400) }, write: merging }).probes).toBeLessThan(40);
  });

  it('tells the item where it may ask no more', () => {
    const { fields, complete } = fieldSources({ input: { messages: turns(4) }, write: merging }, 1);
    const marked = fieldSources({ input: { messages: turns(4) }, write: merging }, 2);
    expect(complete).toBe(false);
    expect(fields.every(({ from }) => from.length === 0)).toBe(true);
    expect(
      Object.fromEntries(marked.fields.map(({ path, from }) => [path.join('.'), from.map((one) => one.join('.'))])),
    ).toMatchObject({
      'contents.2.who': ['messages.2'],
      'contents.2.parts.0': ['messages.2.content'],
    });
  });

  it('does not take a text for another one that was left out with it', () => {
    const writer = write(({ type, text }) => ({ text: type === 'text' ? text : '' }));
    expect(dotted({ input: { type: 'text', text: 'Hi' }, write: writer })).toEqual({ text: ['text'] });
  });
});

const thinking = ({ effort, seed }: Json) => ({
  seed,
  ...(effort !== undefined && { thinking: { type: 'enabled', budget: BUDGETS[String(effort)] ?? fail() } }),
});

/** Without tools there is nothing to choose; one that is not among them is refused. */
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
