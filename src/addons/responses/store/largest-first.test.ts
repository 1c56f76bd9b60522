import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LargestFirst, type Sized } from './largest-first.ts';

it('The largest of many things is known after each change', () => {
  const step = fc.record({ act: fc.constantFrom('add', 'add', 'remove', 'change'), at: fc.nat(), bytes: fc.nat(100) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new LargestFirst<{ bytes: number } & Sized>();
      const all: ({ bytes: number } & Sized)[] = [];
      for (const { act, at, bytes } of steps) {
        const one = all[at % all.length];
        if (act === 'add') {
          const added = { bytes, place: 0 };
          all.push(added);
          heap.add(added);
        } else if (one && act === 'remove') {
          all.splice(all.indexOf(one), 1);
          heap.remove(one);
        } else if (one) {
          one.bytes = bytes;
          heap.changed(one);
        }
        expect(heap.largest?.bytes).toBe(all.length === 0 ? undefined : Math.max(...all.map((other) => other.bytes)));
      }
    }),
  );
});
