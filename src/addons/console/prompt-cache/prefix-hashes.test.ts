import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attempt, Exchange, Sender } from '../../../core/kernel/index.ts';
import type { PromptPrefixes } from '../../../core/kernel/prompt-prefixes.ts';
import { RequestBody } from '../../../core/kernel/body/request-body.ts';
import { Secret } from '../../../plugin/index.ts';
import { CpuShare } from './cpu-share.ts';
import { hashingSender, PrefixHasher } from './prefix-hashes.ts';

const bodyOf = (value: object | string): RequestBody =>
  RequestBody.read(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), 64);

/** A share without a bound. */
const always = (): CpuShare => new CpuShare({ now: () => 0, cpu: () => 0, own: () => 0 });

function prefixesOf(value: object | string, hasher = new PrefixHasher(new Secret('k'))): PromptPrefixes | undefined {
  const attempt = { body: bodyOf(value) } as Attempt;
  const sent: unknown[] = [];
  const sender: Sender = { send: (...of) => (sent.push(of), Promise.reject(new Error('not sent'))) };
  void hashingSender(
    hasher,
    always(),
  )(sender)
    .send({ operation: { task: 'generate' } } as Exchange, attempt)
    .catch(() => {});
  expect(sent).toHaveLength(1);
  return attempt.prefixes?.(true);
}

const TOOLS = [
  { type: 'function', function: { name: 'find', parameters: { type: 'object', title: 'x'.repeat(900) } } },
];
const SYSTEM = 'You answer. '.repeat(200);
const chat = (more: object = {}, tools: object = TOOLS) => ({
  model: 'm',
  messages: [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: 'hello' },
  ],
  tools,
  ...more,
});
const hashesOf = (found: PromptPrefixes | undefined) => Object.fromEntries(found?.prefixes ?? []);

describe('the prefixes of a prompt', () => {
  it('end at its tools, its system prompt and fixed lengths, in the forms of all clients', () => {
    const tools = JSON.stringify(TOOLS).length;
    const first = JSON.stringify(chat().messages[0]).length;
    const cases: [object, number][] = [
      [chat(), first + 1],
      [
        { model: 'm', messages: [{ role: 'user', content: 'hi' }], system: SYSTEM, tools: TOOLS },
        JSON.stringify(SYSTEM).length,
      ],
      [{ model: 'm', input: 'hi', instructions: SYSTEM, tools: TOOLS }, JSON.stringify(SYSTEM).length],
      [
        { contents: [], systemInstruction: { parts: [{ text: SYSTEM }] }, tools: TOOLS },
        JSON.stringify({ parts: [{ text: SYSTEM }] }).length,
      ],
    ];
    for (const [body, system] of cases) {
      const found = prefixesOf(body)!;
      expect([found.tools, found.system]).toEqual([tools, system]);
      expect(found.prefixes.map(([end]) => end)).toEqual([512, tools, 2048, tools + system].toSorted((a, b) => a - b));
    }
    const long = prefixesOf(chat({ messages: [{ role: 'user', content: 'y'.repeat(100_000) }] }))!;
    expect(long.prefixes.map(([end]) => end)).toEqual([512, tools, 2048, 8192, 16_384, 32_768]);
    expect(long.prefixes.length + 1).toBeLessThanOrEqual(8);
    expect(long.system).toBe(0);
  });

  it('are equal as far as the prompts are, and differ behind', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 39_999 }), (at) => {
        const text = 'a'.repeat(40_000);
        const [one, other] = [text, `${text.slice(0, at)}b${text.slice(at + 1)}`].map((content) =>
          prefixesOf({ model: 'm', messages: [{ role: 'user', content }] }),
        );
        const start = '[{"role":"user","content":"'.length;
        for (const [end, hash] of one!.prefixes) expect(hashesOf(other)[end] === hash).toBe(end <= start + at);
      }),
      { numRuns: 30 },
    );
  });

  it('have one hash for tools with their keys in any order', () => {
    const [tool] = TOOLS;
    const turned = [Object.fromEntries(Object.entries(tool!).toReversed())];
    const [one, other] = [prefixesOf(chat()), prefixesOf(chat({}, turned))];
    expect(other!.sorted).toBe(one!.sorted);
    expect(hashesOf(other)[one!.tools]).not.toBe(hashesOf(one)[one!.tools]);
    expect(prefixesOf(chat({}, [...TOOLS, ...TOOLS]))!.sorted).not.toBe(one!.sorted);
  });

  it('have another hash under another key, and name it', () => {
    const own = new PrefixHasher(undefined);
    const [one, other] = [prefixesOf(chat()), prefixesOf(chat(), own)];
    expect(one!.by).not.toBe(other!.by);
    expect(hashesOf(one)[512]).not.toBe(hashesOf(other)[512]);
    expect(prefixesOf(chat(), own)).toEqual(other);
  });

  it('have nothing of a text, and are none of a short prompt', () => {
    const found = JSON.stringify(prefixesOf(chat()));
    for (const word of ['answer', 'find', 'hello']) expect(found).not.toContain(word);
    expect(found.length).toBeLessThan(400);
    expect(prefixesOf({ model: 'm', messages: [] })).toBeUndefined();
  });

  it('are those of the values that a plugin has written', () => {
    const attempt = {
      body: bodyOf(chat()).edit([{ path: ['system'], value: 'z'.repeat(3000), source: 'test' }]),
    } as Attempt;
    void hashingSender(
      new PrefixHasher(undefined),
      always(),
    )({ send: () => new Promise(() => {}) }).send({ operation: { task: 'generate' } } as Exchange, attempt);
    expect(attempt.prefixes?.(true)?.system).toBe(3002);
  });

  it('are none of a request that is no conversation', () => {
    const attempt = { body: bodyOf({ model: 'm', input: 'x'.repeat(5000) }) } as Attempt;
    void hashingSender(
      new PrefixHasher(undefined),
      always(),
    )({ send: () => new Promise(() => {}) }).send({ operation: { task: 'embeddings' } } as Exchange, attempt);
    expect(attempt.prefixes).toBeUndefined();
  });
});

describe('the share of the CPU time', () => {
  it('is at most 1 % beyond the credit of the beginning, and no work is done without it', () => {
    let cpu = 0;
    const share = new CpuShare({ now: () => cpu, cpu: () => cpu, own: () => cpu });
    let worked = 0;
    // A process that is busy all the time with requests whose work would take a tenth of it.
    for (let round = 0; round < 1_000_000; round += 1) {
      share.run(() => {
        cpu += 1;
        worked += 1;
      });
      cpu += 9;
    }
    expect(worked).toBeLessThanOrEqual(250 + cpu * 0.01 + 1);
    expect(worked).toBeGreaterThan(cpu * 0.009);
  });

  it('counts the time of work that throws', () => {
    let cpu = 0;
    const share = new CpuShare({ now: () => 0, cpu: () => 0, own: () => cpu });
    const fail = (): void => {
      cpu += 200;
      throw new Error('no');
    };
    expect(() => share.run(fail)).toThrow('no');
    expect(() => share.run(fail)).toThrow('no');
    expect(share.run(() => 1)).toBeUndefined();
  });
});
