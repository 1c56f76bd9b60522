import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { README, withFaults } from './fault-table.ts';

it('README tells of every fault what the tests expect of it', () => {
  // Anew with `node test/faults/fault-table.ts`.
  const readme = readFileSync(README, 'utf8');
  expect(readme).toBe(withFaults(readme));
});
