import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/core/operations/index.ts';
import { providerNames } from '../../src/core/providers/index.ts';
import { ASKING, observeCells, README, tableOf, withTable, type Cell } from './table.ts';
import { PROBES } from './probes.ts';
import { UPSTREAMS } from './upstreams.ts';

it('operations have paths of version 1 of the API, or of the versions that Google has', () => {
  const others = operations
    .map(({ path }) => path)
    .filter((path) => !/^(?:\/upload)?\/(?:v1|\{version:[a-z0-9|]+\})\//.test(path));
  expect(others).toEqual([]);
});

describe('the table of operations and upstreams', () => {
  let cells: readonly Cell[];
  beforeAll(async () => {
    cells = await observeCells();
  });

  it('has every provider but the simulator, which no model is behind, and every operation that asks a model', () => {
    const shown = new Set<string>(UPSTREAMS.map(({ provider }) => provider));
    expect(new Set(providerNames()).difference(shown)).toEqual(new Set(['simulator']));
    expect(Object.keys(PROBES).toSorted()).toEqual(ASKING.map(({ id }) => id).toSorted());
  });

  it('has nothing but what works and what is refused as not to be had', () => {
    expect(cells.filter(({ outcome }) => typeof outcome === 'object')).toEqual([]);
  });

  it('stands there as the gateway does it', () => {
    // Anew with `node test/operations/table.ts`.
    const readme = readFileSync(README, 'utf8');
    expect(readme).toBe(withTable(readme, tableOf(cells)));
  });
});
