import { mkdtempSync, rmSync, mkdirSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { coldStarts, explainOften } from './explain.ts';
import { load, type LoadResult } from './load.ts';
import { children, cpuMs, start } from './processes.ts';
import { hostileShapes } from './shapes.ts';

/**
 * `npm run bench`: what a request costs through Gatehouse, side by side in one run with a bare pass-through proxy (node:http
 * and undici dispatch) and with the upstream itself. The measure is CPU time of the process under test per request, which is
 * what a saturated gateway costs; latency is taken at concurrency 1. Figures of one run are compared as ratios: this machine
 * and yours differ, and so do two runs on a shared machine. Gateway and proxy run on one core, load and upstream on another
 * where `taskset` is there.
 */
const REPETITIONS = Number(process.env['BENCH_REPETITIONS'] ?? 3);
const SCALE = Number(process.env['BENCH_SCALE'] ?? 1);
const KEY = 'gatehouse-bench-key-0123456789';

interface Target {
  readonly name: string;
  readonly pid: number | undefined;
  readonly url: string;
  readonly path: string;
  readonly model: string;
}
interface Row {
  readonly target: string;
  readonly cpu: number[];
  readonly p50: number[];
  readonly p99: number[];
  failures: number;
}

/** @param told its replies say where the time went */
function writeConfigs(upstream: string, reported = false): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  mkdirSync(join(dir, 'gateway'));
  writeFileSync(
    join(dir, 'server.yaml'),
    'listen: { host: 127.0.0.1, port: 0 }\nstatus: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }\ntelemetry: { log: { access: errors, level: warn } }\n' +
      (reported ? 'default_config: told\n' : ''),
  );
  if (reported) writeFileSync(join(dir, 'gateway', 'told.yaml'), 'reply_headers: [server_timing, config_hash]\n');
  writeFileSync(
    join(dir, 'catalog.yaml'),
    `providers:
  - { slug: same, provider: simulator, base_url: ${upstream}, allow_insecure: true }
  - { slug: claude, provider: anthropic, api_key: "\${env:BENCH_UPSTREAM_KEY:-none}", base_url: ${upstream}, allow_insecure: true }
  - { slug: gemini, provider: vertex-ai, project_id: bench-project, region: global, base_url: ${upstream}, allow_insecure: true }
`,
  );
  writeFileSync(join(dir, 'keys.yaml'), `keys:\n  - { id: bench, key: "\${env:BENCH_KEY:-${KEY}}" }\n`);
  return dir;
}

const EXPLAINED = 100;

/** As it says itself where it listens. */
function adminOf({ text }: { readonly text: () => string }): string {
  const url = /\/admin\/v1\/requests\) on (http:\/\/\S+)/.exec(text())?.[1];
  if (url === undefined) throw new Error(`no admin listener in: ${text()}`);
  return url;
}

const messages = [
  { role: 'system', content: 'You are a terse assistant.' },
  { role: 'user', content: 'Summarise the history of the semicolon. '.repeat(20) },
];

async function measure(target: Target, stream: boolean, row: Row): Promise<void> {
  const body = JSON.stringify({
    model: target.model,
    max_tokens: 256,
    messages,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  });
  const headers = {
    'content-type': 'application/json',
    'x-gateway-api-key': KEY,
    authorization: 'Bearer upstream-token',
  };
  const call = { url: target.url, path: target.path, headers, body };
  const total = Math.round((stream ? 250 : 4000) * SCALE);
  await load(call, 32, Math.round(total / 4));
  const before = target.pid === undefined ? 0 : cpuMs(target.pid);
  const busy: LoadResult = await load(call, 32, total);
  if (target.pid !== undefined) row.cpu.push(((cpuMs(target.pid) - before) * 1000) / busy.requests);
  const calm = await load(call, 1, Math.round(total / (stream ? 5 : 10)));
  row.p50.push(calm.latencies[Math.floor(calm.latencies.length / 2)]!);
  row.p99.push(calm.latencies[Math.floor(calm.latencies.length * 0.99)]!);
  row.failures += busy.failures + calm.failures;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

function table(title: string, rows: readonly Row[]): string {
  const proxy = rows.find(({ target }) => target.startsWith('bare'))!;
  const direct = rows.find(({ target }) => target === 'direct')!;
  const lines = rows.map((row) => {
    const cpu = row.cpu.length > 0 ? median(row.cpu) : undefined;
    const ratio = cpu === undefined ? '' : median(row.cpu.map((value, index) => value / proxy.cpu[index]!)).toFixed(2);
    const added = row === direct ? '' : ((median(row.p50) - median(direct.p50)) * 1000).toFixed(0);
    return `| ${row.target} | ${cpu?.toFixed(0) ?? ''} | ${ratio} | ${(median(row.p50) * 1000).toFixed(0)} | ${added} | ${(median(row.p99) * 1000).toFixed(0)} | ${row.failures} |`;
  });
  return [
    `### ${title}`,
    '',
    '| target | CPU µs/request | × bare proxy | p50 µs | added µs | p99 µs | failures |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
    '',
  ].join('\n');
}

async function main(): Promise<void> {
  const upstream = await start(1, 'test/bench/upstream.ts');
  const upstreamUrl = `http://127.0.0.1:${upstream.port}`;
  const configs = writeConfigs(upstreamUrl);
  const reportedConfigs = writeConfigs(upstreamUrl, true);
  const explains: number[] = [];
  const results = new Map<boolean, Row[]>();
  try {
    for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
      // Fresh processes each time: JIT and heap luck differ by ±25 % from start to start.
      const proxy = await start(0, 'test/bench/proxy.ts', upstreamUrl);
      const gateway = await start(0, 'src/cli/main.ts', 'serve', '--configs', configs);
      const path = '/v1/chat/completions';
      const gatewayUrl = `http://127.0.0.1:${gateway.port}`;
      const targets: Target[] = [
        { name: 'direct', pid: undefined, url: upstreamUrl, path, model: 'bench' },
        {
          name: 'bare node:http + undici proxy',
          pid: proxy.pid,
          url: `http://127.0.0.1:${proxy.port}`,
          path,
          model: 'bench',
        },
        { name: 'Gatehouse, same format (OpenAI)', pid: gateway.pid, url: gatewayUrl, path, model: '@same/bench' },
        {
          name: 'Gatehouse, mapped to Anthropic',
          pid: gateway.pid,
          url: gatewayUrl,
          path,
          model: '@claude/claude-3-5-haiku-20241022',
        },
        {
          name: 'Gatehouse, mapped to Gemini',
          pid: gateway.pid,
          url: gatewayUrl,
          path,
          model: '@gemini/gemini-2.5-flash',
        },
      ];
      // Last, when all others have been measured: what explain leaves behind in a process, and what it costs to say where time went.
      const same = targets.find(({ model }) => model === '@same/bench')!;
      const afterExplain = { ...same, name: `the same, after ${EXPLAINED} requests were explained` };
      const reported = await start(0, 'src/cli/main.ts', 'serve', '--configs', reportedConfigs);
      const timed = {
        ...same,
        name: 'the same, with Server-Timing',
        pid: reported.pid,
        url: `http://127.0.0.1:${reported.port}`,
      };
      targets.push(timed, afterExplain);
      for (const stream of [false, true]) {
        const rows =
          results.get(stream) ??
          targets.map(({ name }): Row => ({ target: name, cpu: [], p50: [], p99: [], failures: 0 }));
        results.set(stream, rows);
        for (const [index, target] of targets.entries()) {
          if (target === afterExplain) explains.push(await explainOften(adminOf(gateway), same.model, EXPLAINED));
          await measure(target, stream, rows[index]!);
        }
      }
      for (const child of children.splice(1)) child.kill('SIGKILL');
    }
    console.log(
      `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, median of ${REPETITIONS} repetitions with fresh processes\n`,
    );
    console.log(table('1 KB chat, not streamed', results.get(false)!));
    console.log(table('Stream of 200 events, a write each', results.get(true)!));
    console.log(coldStarts(configs, Math.max(10, REPETITIONS)));
    console.log(`Explained in the running gateway: ${median(explains).toFixed(1)} ms each.\n`);
    console.log(hostileShapes());
  } finally {
    for (const child of children) child.kill('SIGKILL');
    for (const dir of [configs, reportedConfigs]) rmSync(dir, { recursive: true, force: true });
  }
}

await main();
