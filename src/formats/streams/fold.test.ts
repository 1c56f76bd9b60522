import { expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { fold } from './fold.ts';

const at = { choice: 0 } as const;

it('joins the fragments of a block and puts its signature on it', () => {
  const events: GenerationEvent[] = [
    { type: 'start', id: 'x', model: 'm' },
    { type: 'thinking', ...at, block: 0, text: 'a' },
    { type: 'thinking', ...at, block: 0, text: 'b' },
    { type: 'signature', ...at, block: 0, signature: 's' },
    { type: 'text', ...at, block: 1, text: 'c' },
    { type: 'text', ...at, block: 1, text: 'd' },
    { type: 'finish', ...at, reason: 'stop', native: 'end_turn' },
    { type: 'end' },
  ];
  const { choices, ...rest } = fold(events);
  expect(rest).toMatchObject({ id: 'x', model: 'm', failure: undefined });
  expect(choices[0]?.parts).toEqual([
    { type: 'thinking', text: 'ab', signature: 's' },
    { type: 'text', text: 'cd' },
  ]);
  expect(choices[0]).toMatchObject({ finish: 'stop', native: 'end_turn' });
});

it('keeps a signature without a part on an empty text', () => {
  expect(fold([{ type: 'signature', ...at, block: 3, signature: 's' }, { type: 'end' }]).choices[0]?.parts).toEqual([
    { type: 'text', text: '', signature: 's' },
  ]);
});

it('joins the arguments of parallel calls, also when they are interleaved', () => {
  const call = (number: number) =>
    ({ type: 'tool_call', ...at, block: number, call: number, id: `id${number}`, name: 'f' }) as const;
  const args = (number: number, text: string) => ({ type: 'tool_arguments', ...at, call: number, text }) as const;
  const parts = fold([call(0), call(1), args(0, '{"a"'), args(1, '{}'), args(0, ':1}'), { type: 'end' }]).choices[0]
    ?.parts;
  expect(parts).toEqual([
    { type: 'tool_call', id: 'id0', name: 'f', arguments: '{"a":1}' },
    { type: 'tool_call', id: 'id1', name: 'f', arguments: '{}' },
  ]);
});

it('reads the kind of a medium from its type in any case', () => {
  const media: GenerationEvent = { type: 'media', ...at, block: 0, mime: 'Image/PNG', data: 'AAAA' };
  expect(fold([media, { type: 'end' }]).choices[0]?.parts).toMatchObject([{ type: 'media', media: 'image' }]);
});

it('takes the last usage and sums nothing', () => {
  const usage = (output: number) => ({ type: 'usage', usage: { input: 5, output, total: 5 + output } }) as const;
  expect(fold([usage(1), usage(7), { type: 'end' }]).usage).toEqual({ input: 5, output: 7, total: 12 });
});

it('orders choices by their index', () => {
  const text = (choice: number) => ({ type: 'text', choice, block: 0, text: String(choice) }) as const;
  expect(fold([text(1), text(0), { type: 'end' }]).choices.map(({ index }) => index)).toEqual([0, 1]);
});

it('returns the failure that ended a stream', () => {
  const failure = { status: 529, message: 'busy' };
  expect(fold([{ type: 'error', failure }]).failure).toBe(failure);
});
