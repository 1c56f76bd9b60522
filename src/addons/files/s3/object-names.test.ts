import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FILE_PURPOSES } from '../../../core/kernel/index.ts';
import { newFileId } from '../file-ids.ts';
import { fileName, pendingName, readObjectName, stateName } from './object-names.ts';

const OWNER = 'test.0000000000000000';
const ids = fc.nat(2 ** 40).map(newFileId);

describe('the name of an object in S3', () => {
  it('is read back as it was written', () => {
    const purposes = fc.constantFrom(...FILE_PURPOSES);
    fc.assert(
      fc.property(ids, purposes, fc.nat(2 ** 45), (id, purpose, number) => {
        const entry = { id, purpose, expiresAt: number };
        expect(readObjectName(fileName(OWNER, entry))).toEqual({ kind: 'file', ...entry });
        expect(readObjectName(`gh/${pendingName(OWNER, id)}`)).toEqual({ kind: 'pending', id });
        expect(readObjectName(stateName(OWNER, id, number))).toEqual({ kind: 'state', id, received: number });
      }),
    );
  });

  it('is never read from another name', () => {
    const id = newFileId(0);
    const wrong = [
      '',
      id,
      `${id}.`,
      `${id}.pdf`,
      `${id}.pending.1`,
      `${id}.upload`,
      `${id}.upload.-1`,
      `${id}.batch.1.2`,
    ];
    for (const name of [
      ...wrong,
      `${id}.batch.`,
      `${id}.batch.1e999999999`,
      `${id}.other.1`,
      `x.batch.1`,
      `${id}.pending/`,
    ])
      expect(readObjectName(`${OWNER}/${name}`), name).toBeUndefined();
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readObjectName(text)).toBeUndefined();
      }),
    );
  });
});
