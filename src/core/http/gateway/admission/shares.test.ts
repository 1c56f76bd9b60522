import { describe, expect, it } from 'vitest';
import { RecentUse } from './shares.ts';

describe('the use of a key', () => {
  it('is small while it is less than half of an equal share', () => {
    const used = new RecentUse();
    used.add('hog', 1000, 0);
    expect([used.isSmall('hog', 0), used.isSmall('new', 0)]).toEqual([false, true]);
    used.add('modest', 200, 0);
    used.add('other', 400, 0);
    expect([used.isSmall('modest', 0), used.isSmall('other', 0)]).toEqual([true, false]);
  });

  it('is compared only with keys that have recent use', () => {
    const used = new RecentUse();
    for (let key = 0; key < 500; key += 1) used.add(`old ${key}`, 1, 0);
    used.add('hog', 1000, 60_000);
    used.add('modest', 100, 60_000);
    used.add('hog', 1000, 70_000);
    expect(used.isSmall('modest', 70_000)).toBe(true);
  });
});
