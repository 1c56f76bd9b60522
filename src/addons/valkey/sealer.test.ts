import { describe, expect, it } from 'vitest';
import { Secret } from '../../plugin/index.ts';
import { Sealer } from './sealer.ts';

const keyOf = (name: string, byte: number): string => `${name}:${Buffer.alloc(32, byte).toString('base64')}`;
const sealer = (...keys: readonly string[]): Sealer =>
  new Sealer(keys.length === 0 ? undefined : new Secret(keys.join(',')));
const value = Buffer.from('a kept answer');

describe('a sealed value', () => {
  it('opens at its place with the key that sealed it, also when another key seals by now', () => {
    const sealed = sealer(keyOf('k1', 1)).seal(value, 'here');
    expect(sealed.includes('answer')).toBe(false);
    expect(sealer(keyOf('k1', 1)).open(sealed, 'here')).toEqual(value);
    expect(sealer(keyOf('k2', 2), keyOf('k1', 1)).open(sealed, 'here')).toEqual(value);
  });

  it('opens nowhere else, with no other key, and not when it was changed or cut', () => {
    const own = sealer(keyOf('k1', 1));
    const sealed = own.seal(value, 'here');
    expect(own.open(sealed, 'there')).toBeUndefined();
    expect(sealer(keyOf('k1', 9)).open(sealed, 'here')).toBeUndefined();
    expect(sealer(keyOf('k2', 1)).open(sealed, 'here')).toBeUndefined();
    expect(sealer().open(sealed, 'here')).toBeUndefined();
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = changed[at]! ^ 1;
      expect(own.open(changed, 'here')).toBeUndefined();
      expect(own.open(sealed.subarray(0, at), 'here')).toBeUndefined();
    }
  });

  it('is not taken where values should be sealed and this one is not', () => {
    const plain = sealer().seal(value, 'here');
    expect(sealer().open(plain, 'here')).toEqual(value);
    expect(sealer(keyOf('k1', 1)).open(plain, 'here')).toBeUndefined();
  });
});
