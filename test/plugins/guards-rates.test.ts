import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { measured, page, PAGE } from './guards-rates.ts';
import { ATTACKS, HARMLESS } from './injection-samples.ts';
import { SAMPLES } from './guards-samples.ts';

describe('the samples of guards', () => {
  it('are 500 with a value and 500 without', () => {
    expect(SAMPLES.filter(({ value }) => value !== undefined)).toHaveLength(500);
    expect(SAMPLES.filter(({ value }) => value === undefined)).toHaveLength(500);
  });

  it('have the rates of the documentation', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(page);
  });

  it('of attacks are 250', () => {
    expect([Object.values(ATTACKS).flat().length, HARMLESS.length]).toEqual([125, 125]);
    expect(new Set([...Object.values(ATTACKS).flat(), ...HARMLESS]).size).toBe(250);
  });

  it('are seldom found where there is nothing', () => {
    const { matches, wrong } = measured.all;
    expect(1 - wrong / matches).toBeGreaterThanOrEqual(0.95);
  });
});
