import { expect, it } from 'vitest';
import { restartKeys } from '../../../core/process/restart-only.testkit.ts';
import { Secret } from '../../../plugin/index.ts';

it('the address of the admin listener needs a restart, its token and the number of its records do not', () => {
  expect(restartKeys({}, { admin: { enabled: false, host: '::1', port: 1 } })).toEqual([
    'admin.enabled',
    'admin.host',
    'admin.port',
  ]);
  const admin = { token: new Secret('new'), hosts: ['gatehouse.internal'], records: 5 };
  expect(restartKeys({}, { admin })).toEqual([]);
});
