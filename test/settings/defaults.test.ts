import { expect, it } from 'vitest';
import type { ServerFile } from '../../schemas/types.generated.ts';
import { isObject } from '../../src/core/kernel/index.ts';
import { compileAlerts } from '../../src/addons/alerts/settings/compile-alerts.ts';
import { compileState } from '../../src/addons/budgets/settings/state.ts';
import { compileFiles } from '../../src/addons/files/settings/files.ts';
import { compileKept } from '../../src/addons/responses/process.ts';
import { compileWebSockets } from '../../src/addons/responses/settings/websockets.ts';
import { propertiesOf, readSchema, SchemaTree } from '../../src/core/settings/schema/schema-files.ts';

const tree = new SchemaTree([readSchema('server')]);

/** The defaults below a schema; one beside a `$ref` takes precedence over the one it refers to. */
function defaultsOf(node: unknown): object | undefined {
  if (!isObject(node)) return undefined;
  if (node['default'] !== undefined) return node['default'] as object;
  const [target = node] = tree.alternatives(node);
  const given = Object.entries(propertiesOf(target)).flatMap(([key, member]) => {
    const value = defaultsOf(member);
    return value === undefined ? [] : [[key, value] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** Defaults of a key of server.yaml. They are valid: the schema says them. */
const keysOf = <Key extends keyof ServerFile>(key: Key): ServerFile[Key] =>
  defaultsOf(propertiesOf(readSchema('server'))[key]) as ServerFile[Key];

const { gcs: _gcs, s3: _s3, ...FILES } = keysOf('files')!;
const STATE = { store: { type: 'memory' }, backup: { dir: '/b' } } as const;

it.each([
  ['alerts', compileAlerts(keysOf('alerts')), compileAlerts()],
  ['files', compileFiles({ ...FILES, dir: '/f' }), compileFiles({ dir: '/f' })],
  ['responses', compileKept(keysOf('responses')), compileKept()],
  [
    'state',
    compileState({ ...keysOf('state'), ...STATE, backup: { ...keysOf('state')?.backup, dir: '/b' } }),
    compileState(STATE),
  ],
  ['websockets', compileWebSockets(keysOf('websockets')), compileWebSockets()],
])('the add-on of `%s` fills in the defaults of the schema', (key, written, filled) => {
  expect(keysOf(key as keyof ServerFile)).toBeDefined();
  expect(written).toEqual(filled);
});
