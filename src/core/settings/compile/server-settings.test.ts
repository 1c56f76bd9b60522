import { describe, expect, test } from 'vitest';
import { completeSchemas } from '../../../../schemas/fragments.ts';
import { isObject } from '../../kernel/index.ts';
import type { ServerFile } from '../../../../schemas/types.generated.ts';
import { valueAt } from '../schema/pointer.ts';
import { propertiesOf, SchemaTree, absoluteRefs } from '../schema/schema-files.ts';
import { compileServerSettings } from './server-settings.ts';

/** Without the keys of add-ons, which fill in their own defaults. */
const schema = absoluteRefs(completeSchemas([]).get('server')!, 'https://gatehouse.dev/schemas/server.json');
const tree = new SchemaTree([schema]);

/** The document of all defaults below a schema; a default beside a `$ref` takes precedence over the one it refers to. */
function defaultsOf(node: unknown): unknown {
  if (!isObject(node)) return undefined;
  if (node['default'] !== undefined) return node['default'];
  const [target = node] = tree.alternatives(node);
  const members = Object.entries(propertiesOf(target)).map(([key, member]) => [key, defaultsOf(member)] as const);
  const given = members.filter(([, value]) => value !== undefined);
  return given.length === 0 ? target['default'] : Object.fromEntries(given);
}

describe('compileServerSettings', () => {
  test('fills in the defaults of the schema', () => {
    // It is valid: its values come from the schema's own defaults.
    const defaults = defaultsOf(schema) as ServerFile;
    expect(Object.keys(defaults).sort()).toEqual(
      [
        'cache',
        'chains',
        'deadline',
        'drain',
        'egress',
        'header_prefixes',
        'limits',
        'listen',
        'plugins',
        'reload',
        'status',
        'telemetry',
        'timeouts',
        'trusted_proxies',
      ].sort(),
    );
    // Nor are there files of records without a folder.
    const { records, ...telemetry } = defaults.telemetry!;
    const ofRecords = (more: object) =>
      compileServerSettings({ telemetry: { records: { dir: '/r', ...more } } }).telemetry.records;
    expect(ofRecords(records!)).toEqual(ofRecords({}));
    expect(compileServerSettings({ ...defaults, telemetry })).toEqual(compileServerSettings({}));
  });

  test.each(['listen', 'status'] as const)('uses the default address in the description of `%s`', (name) => {
    const { host, port } = compileServerSettings({})[name];
    expect(valueAt(schema, ['properties', name, 'description'])).toContain(`Default ${host}:${port}.`);
  });

  test('has no default that is missing in the schema', () => {
    const unreported = ['limits', 'timeouts', 'chains', 'cache', 'reload', 'drain'].flatMap((name) =>
      Object.entries(propertiesOf(valueAt(schema, ['definitions', name]))).flatMap(([key, member]) =>
        defaultsOf(member) === undefined ? [`${name}.${key}`] : [],
      ),
    );
    // Their defaults are a share of another limit, or no limit, or (`first_byte`) one time for streams and one for plain replies.
    expect(unreported).toEqual([
      'limits.connections',
      'limits.in_flight_per_key',
      'limits.in_flight_bytes_per_key',
      'limits.unauthenticated',
      'timeouts.first_byte',
    ]);
  });

  test.each([
    [{}, 500, 134_217_728],
    [{ in_flight: 10, in_flight_bytes: '4MiB' }, 2, 1_048_576],
    [{ in_flight: 1, in_flight_bytes: 2 }, 1, 1],
    [{ in_flight: 10, in_flight_per_key: 10, in_flight_bytes_per_key: '1MiB' }, 10, 1_048_576],
  ])('gives each key a quarter of %j by default', (limits, requests, bytes) => {
    const { inFlightPerKey, inFlightBytesPerKey } = compileServerSettings({ limits }).limits;
    expect([inFlightPerKey, inFlightBytesPerKey]).toEqual([requests, bytes]);
  });

  test('reads times as milliseconds and sizes as bytes', () => {
    const { timeouts, limits } = compileServerSettings({
      timeouts: { connect: '250ms', first_byte: '1.5s', first_content: '2m', idle: 900, total: '1h' },
      limits: {
        body: '1MiB',
        header: 4096,
        reply: '2GiB',
        hold_bytes: '0B',
        hold_time: 0,
        json_depth: 8,
        large_bodies: 70,
        json_keys: 50,
        json_items: 60,
        inline_config: '2KiB',
        connections: 3,
        in_flight: 7,
        in_flight_per_key: 2,
        in_flight_bytes: '3MiB',
        in_flight_bytes_per_key: '1MiB',
        pipelined: 5,
        form: '9MiB',
        form_held: '1MiB',
        form_idle_time: '4s',
        header_time: '1s',
        body_time: '2s',
        plugin_time: '3s',
        commit_bytes: '5KiB',
        commit_time: '3s',
      },
    });
    expect(timeouts).toEqual({
      connect: 250,
      firstByte: 1500,
      firstByteOfStream: 1500,
      firstContent: 120_000,
      idle: 900,
      total: 3_600_000,
    });
    expect(limits).toEqual({
      body: 1_048_576,
      form: { bytes: 9_437_184, held: 1_048_576, idleMs: 4000 },
      header: 4096,
      reply: 2_147_483_648,
      holdBytes: 0,
      holdMs: 0,
      largeBodies: 70,
      json: { depth: 8, keys: 50, items: 60 },
      inlineConfig: 2048,
      connections: 3,
      inFlight: 7,
      inFlightPerKey: 2,
      inFlightBytes: 3_145_728,
      inFlightBytesPerKey: 1_048_576,
      pipelined: 5,
      headerMs: 1000,
      bodyMs: 2000,
      pluginMs: 3000,
      commitBytes: 5120,
      commitMs: 3000,
    });
  });

  test('keeps given settings and fills in the rest', () => {
    const { listen, chains, telemetry } = compileServerSettings({
      listen: { port: 1 },
      chains: { request: [{ plugin: 'route' }] },
      telemetry: { log: { level: 'warn' } },
    });
    expect(listen).toEqual({ host: '127.0.0.1', port: 1 });
    expect(chains.request).toEqual([{ plugin: 'route' }]);
    expect(chains.attempt).toEqual(['override', 'cache', 'transform', 'retry', 'send']);
    expect(telemetry.log).toEqual({ level: 'warn', access: 'all' });
  });
});
