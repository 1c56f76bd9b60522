import { describe, expect, test } from 'vitest';
import { FormScanner, GatewayError } from '../../src/plugin/index.ts';
import { FORM_SHAPES, type Form } from './form-shapes.ts';
import { growthOf, MOST_GROWTH } from './measure.ts';

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
