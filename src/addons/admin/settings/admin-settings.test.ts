import { expect, it } from 'vitest';
import { restartKeys } from '../../../core/process/restart-only.testkit.ts';
import { valueAt } from '../../../core/settings/schema/pointer.ts';
import { readSchema } from '../../../core/settings/schema/schema-files.ts';
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

it.each([
  ['gatehouse.internal', true],
  ['::1', true],
  ['gatehouse.internal:8788', false],
  ['http://gatehouse.internal', false],
  ['*.internal', false],
  ['me:word@gatehouse.internal', false],
])('%s is a name of the admin listener: %s', (name, accepted) => {
  const pattern = valueAt(readSchema('server'), ['definitions', 'admin', 'properties', 'hosts', 'items', 'pattern']);
  expect(new RegExp(String(pattern), 'u').test(name)).toBe(accepted);
});
