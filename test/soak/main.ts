import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { children, start, type Started } from './processes.ts';
import { hostileRequests } from './hostile.ts';
import { MemoryWatch, peakMemory } from './memory.ts';
import { percentile, Traffic, type Outcome, type Sent } from './traffic.ts';

/**
 * `npm run soak`: three keys send 5 hostile requests of up to 8 MB a second, a fourth key sends 50 ordinary ones a second beside
 * them. The ordinary ones alone are measured first. The run fails when one of them fails, when hostility raises their 99th
 * percentile to more than three times what it was, when memory still grows by a quarter in the last third of the time, or when a hostile one gets a 500 or no answer. Everything stays on loopback and stops after the given time.
 *
 *   npm run soak -- --minutes 30                one process
 *   npm run soak -- --minutes 30 --workers 2    two workers
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    /** Minutes of the ordinary requests alone. */
    calm: { type: 'string', default: '2' },
    workers: { type: 'string' },
    /** Milliseconds in which the upstream answers. Hosted models take at least this long to a first token. */
    upstream: { type: 'string', default: '200' },
  },
});
const HONEST_PER_SECOND = 50;
const HOSTILE_PER_SECOND = 5;
const MOST_RATIO = 3;
/** Median memory of the last third of the time, as a multiple of that of the second. */
const MOST_GROWTH = 1.25;
/** Requests that have no answer by then count as failed. */
const LAST_ANSWER_MS = 60_000;
/** Time in which code is compiled and connections are opened. */
const WARM_UP_MS = 10_000;

const keyOf = (id: string): string => `gatehouse-soak-key-${id}-0123456789`;
const KEYS = ['honest', 'hostile1', 'hostile2', 'hostile3'];

function writeConfigs(upstream: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-soak-'));
  mkdirSync(join(dir, 'gateway'));
  const write = (name: string, text: string): void => writeFileSync(join(dir, name), text);
  write(
    'server.yaml',
    'listen: { host: 127.0.0.1, port: 0 }\nstatus: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }\ntelemetry: { log: { access: off, level: warn } }\n',
  );
  const place = `base_url: "${upstream}", allow_insecure: true`;
  write(
    'catalog.yaml',
    `providers:
  - { slug: same, provider: openai, api_key: "\${env:SOAK_UPSTREAM_KEY:-none}", ${place} }
  - { slug: claude, provider: anthropic, api_key: "\${env:SOAK_UPSTREAM_KEY:-none}", ${place} }
  - { slug: gemini, provider: vertex-ai, project_id: soak-project, region: global, ${place} }
`,
  );
  write(
    'keys.yaml',
    `keys:\n${KEYS.map((id) => `  - { id: ${id}, key: "\${env:SOAK_KEY_${id.toUpperCase()}:-${keyOf(id)}}" }\n`).join('')}`,
  );
  return dir;
}

const MODELS = ['@same/bench', '@claude/claude-3-5-haiku-20241022', '@gemini/gemini-2.5-flash'];
const headersOf = (key: string): Record<string, string> => ({
  'content-type': 'application/json',
  'x-gateway-api-key': keyOf(key),
  // The sample entry of Vertex AI has no credential of its own.
  authorization: 'Bearer upstream-token',
});

/** One after the other, from the beginning again after the last. */
function inTurn<T>(list: readonly T[]): () => T {
  let at = 0;
  return () => list[at++ % list.length]!;
}

function honestRequests(): Sent[] {
  const messages = [{ role: 'user', content: 'Summarise the history of the semicolon. '.repeat(20) }];
  return MODELS.flatMap((model) =>
    ['/v1/chat/completions', '/v1/messages'].flatMap((path) =>
      [false, true].map((stream) => ({
        name: `${path} ${model}${stream ? ' stream' : ''}`,
        path,
        headers: headersOf('honest'),
        body: Buffer.from(JSON.stringify({ model, max_tokens: 256, messages, ...(stream && { stream }) })),
      })),
    ),
  );
}

function hostile(): () => Sent {
  const keys = inTurn(KEYS.slice(1));
  const next = hostileRequests(MODELS);
  return () => ({ ...next(), headers: headersOf(keys()) });
}

const milliseconds = (outcomes: readonly Outcome[], share: number): string => percentile(outcomes, share).toFixed(0);

function describe(outcomes: readonly Outcome[]): string {
  const statuses = Map.groupBy(outcomes, ({ status }) => status);
  const counts = [...statuses].map(([status, list]) => `${list.length} × ${status === 0 ? 'no answer' : status}`);
  return `${outcomes.length} requests (${counts.join(', ')}), p50 ${milliseconds(outcomes, 0.5)}, p99 ${milliseconds(outcomes, 0.99)}, longest ${milliseconds(outcomes, 1)} ms`;
}

async function stopped({ child }: Started, limitMs: number): Promise<string> {
  const from = performance.now();
  const code = new Promise<string>((resolve) => child.once('exit', (exit, signal) => resolve(String(exit ?? signal))));
  child.kill('SIGTERM');
  const late = new Promise<string>((resolve) => setTimeout(resolve, limitMs, 'nothing: it still runs').unref());
  return `${await Promise.race([code, late])} after ${((performance.now() - from) / 1000).toFixed(1)} s`;
}

async function measure(url: string, ms: number, hostility?: () => Sent): Promise<[Outcome[], Outcome[]]> {
  const ordinary = new Traffic(url, HONEST_PER_SECOND, inTurn(honestRequests()));
  const attack = hostility && new Traffic(url, HOSTILE_PER_SECOND, hostility);
  ordinary.start();
  attack?.start();
  await new Promise((resolve) => setTimeout(resolve, ms));
  await Promise.all([ordinary.stop(LAST_ANSWER_MS), attack?.stop(LAST_ANSWER_MS)]);
  return [ordinary.outcomes, attack?.outcomes ?? []];
}

async function main(): Promise<boolean> {
  const upstream = await start(1, 'test/soak/upstream.ts', values.upstream);
  const hostility = hostile();
  const configs = writeConfigs(`http://127.0.0.1:${upstream.port}`);
  const workers = values.workers === undefined ? [] : ['--workers', values.workers];
  try {
    // On all cores: the collector of one process works beside its loop.
    const gateway = await start('0,1', 'src/cli/main.ts', 'serve', '--configs', configs, ...workers);
    const url = `http://127.0.0.1:${gateway.port}`;
    const minutes = (count: string): number => Number(count) * 60_000;
    await measure(url, WARM_UP_MS);
    const [calm] = await measure(url, minutes(values.calm));
    console.log(`ordinary alone:   ${describe(calm)}`);
    const watch = new MemoryWatch(gateway.pid);
    const [besides, attack] = await measure(url, minutes(values.minutes), hostility);
    const memory = watch.stop();
    console.log(`beside hostility: ${describe(besides)}`);
    console.log(`hostile:          ${describe(attack)}`);
    for (const [name, outcomes] of Map.groupBy(attack, (outcome) => outcome.name))
      console.log(`  ${name}: ${describe(outcomes)}`);
    const growth = memory[2] / memory[1];
    const thirds = memory.map((mib) => mib.toFixed(0)).join(', ');
    console.log(`memory at most ${peakMemory(gateway.pid).toFixed(0)} MiB; medians of the thirds ${thirds} MiB`);
    console.log(`SIGTERM: ends with ${await stopped(gateway, LAST_ANSWER_MS)}`);
    const ratio = percentile(besides, 0.99) / percentile(calm, 0.99);
    const failed = [...calm, ...besides].filter(({ status }) => status !== 200).length;
    // A hostile request may be refused, never break anything.
    const broken = attack.filter(({ status }) => status === 0 || status === 500).length;
    console.log(`p99 ratio ${ratio.toFixed(2)} (at most ${MOST_RATIO}), ${failed} ordinary requests failed`);
    console.log(`${broken} hostile requests broke something (500, or no answer)`);
    console.log(`memory of the last third ${growth.toFixed(2)} × that of the second (at most ${MOST_GROWTH})`);
    return failed === 0 && broken === 0 && ratio <= MOST_RATIO && growth <= MOST_GROWTH;
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(configs, { recursive: true, force: true });
  }
}

process.exitCode = (await main()) ? 0 : 1;
