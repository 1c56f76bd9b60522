import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

const at = (path: string): string =>
  JSON.stringify(pathToFileURL(new URL(`../../${path}`, import.meta.url).pathname).href);

/** Starts telemetry in a process of its own, records a request, and prints every module that was loaded on the way. */
const program = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  const missing = process.env.MISSING_PACKAGE;
  const notFound = (name) => Object.assign(new Error("Cannot find package '" + name + "' imported from a module"), { code: 'ERR_MODULE_NOT_FOUND' });
  registerHooks({
    load(url, context, next) { loaded.push(url); return next(url, context); },
    resolve(name, context, next) { if (name === missing) throw notFound(name); return next(name, context); },
  });
  const [{ createMetrics }, { createRecorder }, { startOtel }, { createLogger }, { createAccessLog }, { EndedRequests }, kit] = await Promise.all([
    import(${at('src/core/record/metrics/registry.ts')}), import(${at('src/core/record/recorder.ts')}), import(${at('src/addons/otlp/start-otel.ts')}),
    import(${at('src/core/record/log/logger.ts')}), import(${at('src/core/record/log/access-log.ts')}), import(${at('src/core/record/ended-requests.ts')}), import(${at('src/core/record/exchange.testkit.ts')}),
    import(${at('plugins/telemetry/index.ts')}), import(${at('src/core/status/status-listener.ts')}),
  ]);
  const log = createLogger({ level: 'silent' });
  const clock = kit.createStillClock();
  const ended = new EndedRequests(clock);
  const metrics = createMetrics({ clock, build: { version: '', revision: '' }, process: false });
  const otel = await startOtel({ env: process.env, yaml: undefined, version: '0', log, metrics });
  const recorder = createRecorder({ clock, metrics, models: { answered: (model) => model }, log, ended, accessLog: createAccessLog({ log, lines: { write() {} }, mode: 'all' }), openSpan: otel?.openSpan });
  recorder.open(kit.streamedExchange()).close(kit.endOf());
  ended.flush();
  console.log(JSON.stringify({ tracing: otel?.openSpan !== undefined, loaded }));
  process.exit(0);
`;

/** @param missing a package that is not found */
function load(env: Record<string, string>, missing = ''): { tracing: boolean; packages: Set<string> } {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(OTEL_|NODE_OPTIONS|VITEST)/.test(name)),
  );
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...own, ...env, MISSING_PACKAGE: missing },
    encoding: 'utf8',
  });
  if (child.status !== 0) throw new Error(child.stderr);
  const { tracing, loaded } = JSON.parse(child.stdout) as { tracing: boolean; loaded: string[] };
  const packages = loaded.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []);
  return { tracing, packages: new Set(packages) };
}

describe('the OpenTelemetry SDK', () => {
  it.each([
    [{}],
    [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }],
    [{ OTEL_TRACES_EXPORTER: 'none' }],
    [{ OTEL_SERVICE_NAME: 'edge', OTEL_PROPAGATORS: 'b3' }],
  ])('is not loaded with %j: no module but its API, which prom-client loads', (env) => {
    const { tracing, packages } = load(env);
    expect(tracing).toBe(false);
    expect(packages).toContain('pino');
    expect([...packages].filter((name) => /opentelemetry|protobuf/.test(name))).toEqual(['@opentelemetry/api']);
  });

  it('is loaded when the environment names a collector', () => {
    const { tracing, packages } = load({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
    expect(tracing).toBe(true);
    expect(packages).toContain('@opentelemetry/sdk-node');
  });

  it.each(['@opentelemetry/sdk-node', '@opentelemetry/sdk-metrics', '@opentelemetry/exporter-trace-otlp-proto'])(
    'may be missing: the error names %s and says how it is installed',
    (name) => {
      expect(() => load({ OTEL_TRACES_EXPORTER: 'otlp' }, name)).toThrow(
        `its optional package ${name} is not installed. Install gatehouse-gateway without --omit=optional`,
      );
    },
  );
});
