import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Both are in Debian's package `prometheus`. */
export const hasPrometheus = ['prometheus', 'promtool'].every((tool) => !spawnSync(tool, ['--version']).error);

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

export interface Prometheus {
  /** The result of an expression now. */
  query(expression: string): Promise<readonly Sample[]>;
  /** The names of the traces that buckets of a metric have. */
  exemplars(selector: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A real Prometheus on loopback that scrapes a status listener every second. */
export async function startPrometheus(statusUrl: string, rules: readonly string[]): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-prometheus-'));
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: rules,
    scrape_configs: [{ job_name: 'gatehouse', static_configs: [{ targets: [new URL(statusUrl).host] }] }],
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const ask = async <T>(path: string, parameters: Record<string, string>): Promise<T> => {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { data, error } = (await reply.json()) as { readonly data: T; readonly error?: string };
    if (error !== undefined) throw new Error(`${parameters['query']}: ${error}`);
    return data;
  };
  return {
    query: async (query) => (await ask<{ readonly result: readonly Sample[] }>('query', { query })).result,
    async exemplars(query) {
      const now = Date.now() / 1000;
      const found = await ask<
        readonly { readonly exemplars: readonly { readonly labels: { readonly trace_id: string } }[] }[]
      >('query_exemplars', { query, start: String(now - 600), end: String(now + 60) });
      return found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id));
    },
    async close() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
