import { expect, it } from 'vitest';
import { deepFreeze } from '../contexts.testkit.ts';
import { assembleBlocks } from './streamed-blocks.ts';

const assemble = (...items: readonly unknown[]) => assembleBlocks(deepFreeze(items));
const piece = (index: number, delta: object) => ({ index, delta });

it('joins the pieces of each block by its index, in the order the blocks began', () => {
  expect(
    assemble(
      piece(3, { thinking: 'H' }),
      piece(3, { thinking: 'm' }),
      piece(4, { text: 'Yes' }),
      piece(3, { signature: 'c2ln' }),
      piece(4, { text: '!' }),
      piece(4, { citations: [{ n: 1 }] }),
      piece(4, { citations: [{ n: 2 }] }),
    ),
  ).toEqual([
    { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
    { type: 'text', text: 'Yes!', citations: [{ n: 1 }, { n: 2 }] },
  ]);
});

it.each([
  ['a hidden thought', { data: 'ZGF0YQ' }, { type: 'redacted_thinking', data: 'ZGF0YQ' }],
  ['a signature alone', { signature: 'c2ln' }, { type: 'text', text: '', signature: 'c2ln' }],
  ['a block that came whole', { type: 'code', language: 'x', code: 'y' }, { type: 'code', language: 'x', code: 'y' }],
])('makes a block of %s', (_title, delta, block) => expect(assemble(piece(0, delta))).toEqual([block]));

it('leaves whole blocks unchanged and in place, among fragments too', () => {
  const whole = { type: 'thinking', thinking: 'x', delta: {} };
  const items = [whole, { type: 'text', text: 'y' }, 7];
  expect(assemble(...items)).toEqual(items);
  expect(assemble(piece(0, { text: 'a' }), whole, piece(0, { text: 'b' }))).toEqual([
    { type: 'text', text: 'ab' },
    whole,
  ]);
});
