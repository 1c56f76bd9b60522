import { describe, expect, test } from 'vitest';
import { forms } from '../../src/core/operations/openai.ts';
import { FormScanner } from '../../src/core/kernel/forms/form-scanner.ts';
import { GatewayError } from '../../src/plugin/index.ts';
import { FORM_SHAPES, WHOLE_FORM_SHAPES, type Form } from './form-shapes.ts';
import { serveForm, withModel } from './forms-run.ts';
import { growthOf, growthOfAsync, MOST_GROWTH } from './measure.ts';
import { cutInto } from './replies-build.ts';

/** Sizes of the pieces in which a form arrives: a read of a fast connection, and of a client that sends little at once. */
const PIECES = [64 * 1024, 100];

/** Reads a form whole. A refusal is an outcome. */
function scan({ boundary, text }: Form, size: number): number {
  const bytes = Buffer.from(text, 'latin1');
  const scanner = new FormScanner(boundary);
  let tokens = 0;
  try {
    for (let at = 0; at < bytes.length; at += size)
      for (const _ of scanner.push(bytes.subarray(at, at + size))) tokens += 1;
    scanner.finish();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
  return tokens;
}

describe.each(PIECES)('The cost of reading a form that arrives in pieces of %i bytes', (size) => {
  test.each(Object.entries(FORM_SHAPES))('grows with its bytes for %s', { timeout: 120_000 }, (_, make) => {
    const { factor } = growthOf((bytes) => {
      const form = make(bytes);
      return () => void scan(form, size);
    });
    expect(factor).toBeLessThan(MOST_GROWTH);
  });
});

test.each(PIECES)('A form of a megabyte in pieces of %i bytes takes less than a second, whatever its shape', (size) => {
  for (const [name, make] of Object.entries(FORM_SHAPES)) {
    const form = make(1024 * 1024);
    const { user, system } = process.threadCpuUsage();
    scan(form, size);
    const used = process.threadCpuUsage({ user, system });
    expect(used.user + used.system, name).toBeLessThan(1_000_000);
  }
});

const WHOLE = Object.entries({ ...FORM_SHAPES, ...WHOLE_FORM_SHAPES });
/** Whether the whole form is in memory before it is sent, and the pieces in which it arrives. */
const ARRIVALS = [
  { announced: true, size: 64 * 1024 },
  { announced: true, size: 500 },
  { announced: false, size: 500 },
];

describe.each(forms)('The cost of serving a form of $id', (operation) => {
  // Operations differ in their fields and their targets alone.
  test.each(operation === forms[0] ? WHOLE : Object.entries(WHOLE_FORM_SHAPES))(
    'grows with its bytes for %s',
    { timeout: 120_000 },
    async (_, make) => {
      for (const { announced, size } of ARRIVALS) {
        const { factor } = await growthOfAsync((bytes) => {
          const form = make(bytes);
          const pieces = cutInto(withModel(form), size);
          return async () => void (await serveForm(form.boundary, pieces, { operation, announced }));
        });
        expect(factor, announced ? 'held' : 'as it arrives').toBeLessThan(MOST_GROWTH);
      }
    },
  );
});

test.each(forms)('A form of $id reaches its target whole, held or as it arrives', async (operation) => {
  for (const [name, make] of Object.entries(WHOLE_FORM_SHAPES))
    for (const { announced, size } of ARRIVALS) {
      const form = make(100_000);
      const sent = withModel(form);
      // The boundary and the name of the model are shorter.
      const least = sent.length - 1000;
      const served = await serveForm(form.boundary, cutInto(sent, size), { operation, announced });
      expect(Number.parseInt(served, 10), `${name}: ${served}`).toBeGreaterThan(least);
    }
});
