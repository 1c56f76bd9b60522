import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FormatName } from './conversation.ts';
import { dataOf, isWhole, PLAIN, plainUsages, streamUsages, usagesAsStream } from './usage-streams.testkit.ts';

/** Recorded traffic is beside the checkout and never part of it. Without it these tests are skipped. */
const CORPUS = new URL('../../../shared/corpus/dev/', import.meta.url);
const FILES: readonly (readonly [FormatName, RegExp])[] = [
  ['openai-chat', /^openai-chat\.jsonl$/],
  ['openai-responses', /^openai-responses\.jsonl$/],
  ['anthropic-messages', /anthropic\.jsonl$/],
  ['gemini', /gemini\.jsonl$/],
];

interface Reply {
  readonly id: string;
  readonly op: string;
  readonly response_status: number;
  readonly response_body_kind: string;
  readonly response_body: unknown;
}

const recorded = !existsSync(CORPUS)
  ? []
  : FILES.flatMap(([name, pattern]) =>
      readdirSync(CORPUS)
        .filter((file) => pattern.test(file))
        .flatMap((file) => readFileSync(new URL(file, CORPUS), 'utf8').split('\n'))
        .filter((line) => line !== '')
        .map((line) => ({ name, reply: JSON.parse(line) as Reply })),
    ).filter(({ reply }) => reply.response_status === 200);

type Usages = ReturnType<typeof plainUsages>;

/** Undefined for a reply of another operation, and for one without counts. */
function counted(read: () => Usages): Usages | undefined {
  try {
    const usages = read();
    return usages[0] && usages;
  } catch {
    return undefined;
  }
}

const sorted = (usages: Usages) =>
  usages.map((usage) => usage && Object.entries(usage).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** The ids of replies whose usage differs between the ways in which it can come, and the number of compared ones. */
function compare(kind: string, waysOf: (name: FormatName, body: unknown) => readonly (() => Usages)[]) {
  let compared = 0;
  const different: unknown[] = [];
  for (const { name, reply } of recorded) {
    if (reply.response_body_kind !== kind) continue;
    const [first, ...others] = waysOf(name, reply.response_body);
    const usages = counted(first!);
    if (!usages) continue;
    compared += 1;
    const all = [...usages, ...others.flatMap((way) => way())];
    if (new Set(sorted(all).map((usage) => JSON.stringify(usage))).size > 1) different.push([reply.id, all]);
  }
  return { compared, different };
}

const streamOf = (name: FormatName, body: unknown): Usages => streamUsages(name, String(body));

describe.skipIf(recorded.length === 0)('recorded replies', () => {
  it('count the same plain and as the stream that they would have been', () => {
    const { compared, different } = compare('json', (name, body) => [
      () => plainUsages(name, body),
      () => usagesAsStream(name, body),
    ]);
    expect(different).toEqual([]);
    expect(compared).toBeGreaterThan(900);
  });

  it('have no count below 0, no part above its whole, and a total that is the sum', () => {
    const all = recorded.flatMap(({ name, reply }) => {
      const read = { json: plainUsages, sse: streamOf }[reply.response_body_kind];
      return (read && counted(() => read(name, reply.response_body)))?.map((usage) => ({ id: reply.id, usage })) ?? [];
    });
    expect(all.filter(({ usage }) => usage && (usage.claimed || usage.total !== usage.input + usage.output))).toEqual(
      [],
    );
    expect(all.length).toBeGreaterThan(2000);
  });

  it('count the same streamed and as the plain reply that they would have been', () => {
    const { compared, different } = compare('sse', (name, body) => [
      () => (isWhole(name, String(body)) ? streamUsages(name, String(body)) : [undefined]),
      () => plainUsages(name, PLAIN[name](dataOf(String(body)))),
    ]);
    expect(different).toEqual([]);
    expect(compared).toBeGreaterThan(200);
  });
});
