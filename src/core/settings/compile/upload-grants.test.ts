import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import { UPLOAD_LIFE_MS } from '../../kernel/index.ts';
import { digestOf } from './api-keys.ts';
import { createKeyRing } from './key-ring.ts';

const NOW = Date.UTC(2026, 10, 21);
const HERE = '127.0.0.1';
const UPLOAD = 'file-gh0195';

const grantsOf = (keys: readonly GatewayKey[], wall = () => NOW) =>
  createKeyRing({ keys: [...keys] }, { wall }).uploads!;
const KEY_A: GatewayKey = { id: 'a', digest: digestOf('key-of-a') };
const KEY_B: GatewayKey = { id: 'b', digest: digestOf('key-of-b') };

describe('the grant of an upload', () => {
  const grants = grantsOf([KEY_A, KEY_B]);
  const grant = grants.grant('a', UPLOAD)!;

  test('finds the caller that began the upload, in every process with the same keys', () => {
    expect(grants.find(grant, UPLOAD, HERE)?.keyId).toBe('a');
    expect(grantsOf([KEY_B, KEY_A]).find(grant, UPLOAD, HERE)?.keyId).toBe('a');
    expect(grants.grant('unknown', UPLOAD)).toBeUndefined();
  });

  test('serves for no other upload', () => {
    for (const id of ['', 'file-gh0196', `${UPLOAD}\n`]) expect(grants.find(grant, id, HERE)).toBeUndefined();
  });

  test('is invalid with any letter changed, added or left out', () => {
    const change = fc.record({ at: fc.nat(grant.length - 1), letter: fc.stringMatching(/^[\w.-]?$/) });
    fc.assert(
      fc.property(change, ({ at, letter }) => {
        const other = grant.slice(0, at) + letter + grant.slice(at + 1);
        fc.pre(other !== grant);
        const found = grants.find(other, UPLOAD, HERE);
        // The last letter of 32 bytes in base64url has two bits that say nothing.
        if (at < grant.length - 1) expect(found).toBeUndefined();
      }),
    );
  });

  test('ends when no upload can go on', () => {
    let now = NOW;
    const own = grantsOf([KEY_A], () => now);
    now = NOW + UPLOAD_LIFE_MS - 1;
    expect(own.find(grant, UPLOAD, HERE)?.keyId).toBe('a');
    now = NOW + UPLOAD_LIFE_MS;
    expect(own.find(grant, UPLOAD, HERE)).toBeUndefined();
  });

  test('ends with its key: removed, replaced, disabled, expired or used from another network', () => {
    const later = (key: Partial<GatewayKey>) => () => grantsOf([{ ...KEY_A, ...key }]).find(grant, UPLOAD, HERE);
    expect(grantsOf([KEY_B]).find(grant, UPLOAD, HERE)).toBeUndefined();
    expect(later({ digest: digestOf('another-key') })()).toBeUndefined();
    expect(later({ disabled: true })).toThrow('disabled');
    expect(later({ expires_at: new Date(NOW).toISOString() })).toThrow('expired');
    expect(later({ networks: ['192.0.2.0/24'] })).toThrow('address');
  });

  test('outlives a rotation as long as the previous key does', () => {
    let now = NOW;
    const previous = { digest: digestOf('key-of-a'), expires_at: new Date(NOW + 1000).toISOString() };
    const rotated = grantsOf([{ id: 'a', digest: digestOf('new-key-of-a'), previous }], () => now);
    expect(rotated.find(grant, UPLOAD, HERE)?.keyId).toBe('a');
    // A new grant is of the new key.
    const renewed = rotated.grant('a', UPLOAD)!;
    now = NOW + 1000;
    expect(() => rotated.find(grant, UPLOAD, HERE)).toThrow('expired');
    expect(rotated.find(renewed, UPLOAD, HERE)?.keyId).toBe('a');
  });
});
