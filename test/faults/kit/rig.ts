import { expect } from 'vitest';
import type { GatewayOptions } from '../../../src/core/process/gateway-options.ts';
import { KEY, startTestGateway, until, type TestGateway, type TestSettings } from '../../support/gateway.ts';
import { entriesFor } from '../../support/upstream.ts';
import { call, type Ask, type OpenCall, type Received } from './client.ts';
import { FALLBACK, healthy, PRIMARY } from './deeds.ts';
import type { DialectName } from './dialects.ts';
import { gained, scrape, type Counters, type Sample } from './metrics.ts';
import { closedPort, startFaultyUpstream, type FaultyUpstream, type Visit } from './upstream.ts';

/** The access line, as far as the suite reads it. */
export interface AccessLine {
  readonly request_id: string;
  readonly route: string;
  readonly status: number;
  readonly stream: boolean;
  readonly duration_ms: number;
  readonly bytes_out: number;
  readonly provider?: string;
  readonly error_code?: string;
  readonly error_type?: string;
  readonly retries?: number;
  readonly finish_reason?: string;
  readonly tokens?: { readonly input: number; readonly output: number };
  readonly attempts?: readonly {
    readonly target: string;
    readonly why: string;
    readonly provider?: string;
    readonly tries: number;
    readonly status?: number;
    readonly error_code?: string;
  }[];
}

/** The decision record as the admin listener tells it, as far as the suite reads it. */
export interface DecisionRecord {
  readonly request_id: string;
  readonly state: 'running' | 'complete' | 'failed' | 'aborted';
  readonly status: number;
  readonly outcome_status: number;
  readonly error?: FaultWords;
  readonly client_left?: string;
  readonly retries: number;
  readonly attempts: readonly RecordedAttempt[];
  readonly skipped: readonly { readonly target: string; readonly reason: string; readonly after: number }[];
}

interface FaultWords {
  readonly code: string;
  readonly type: string;
}

export interface RecordedAttempt {
  readonly target: string;
  readonly why: string;
  readonly provider: string;
  readonly outcome: string;
  readonly answered?: true;
  readonly failure?: FaultWords & { readonly status?: number; readonly kinds?: readonly string[] };
  readonly retries: number;
  readonly tries: readonly { readonly status?: number; readonly waited_ms?: number; readonly error?: FaultWords }[];
  readonly tokens?: { readonly input: number; readonly output: number };
}

/** One request, from every side. */
export interface Seen {
  /** Undefined for a client that left. */
  readonly received: Received | undefined;
  readonly line: AccessLine;
  readonly record: DecisionRecord;
  readonly primary: readonly Visit[];
  readonly fallback: readonly Visit[];
  /** What a metric has gained. */
  readonly gained: (name: string) => Sample[];
}

export interface Rig {
  readonly gateway: TestGateway;
  readonly primary: FaultyUpstream;
  readonly fallback: FaultyUpstream;
  /** Sends one request and waits until everything that tells of it has done so. */
  ask(ask: Ask): Promise<Seen>;
  /** The same, for a client that does something else than to read to the end. */
  watch(ask: Ask, client: (open: OpenCall) => Promise<Received | undefined>): Promise<Seen>;
  lines(): ReadonlyMap<string, AccessLine>;
  record(id: string): Promise<DecisionRecord>;
  scrape(): Promise<Counters>;
  close(): Promise<void>;
}

/** Catalog slug of an upstream's entry for a dialect. `refused` is a closed port. */
export const slugOf = (role: 'primary' | 'fallback' | 'refused', dialect: DialectName): string => `${role}-${dialect}`;

const SLUGS: Readonly<Record<string, DialectName>> = {
  openai: 'openai',
  responses: 'responses',
  claude: 'anthropic',
  gemini: 'gemini',
};

const entriesAt = (url: string) => [
  ...entriesFor(url),
  {
    slug: 'responses',
    provider: 'openai',
    api: 'responses',
    api_key: '${env:NONE:-upstream-secret-key}',
    base_url: `${url}/v1`,
    allow_insecure: true,
  },
];

/** A gateway in front of two scripted upstreams. */
export async function startRig(
  gatewayConfigs: NonNullable<TestSettings['gateway']>,
  { server = {}, ...options }: { readonly server?: object } & Partial<GatewayOptions> = {},
): Promise<Rig> {
  const primary = await startFaultyUpstream(healthy(PRIMARY));
  const fallback = await startFaultyUpstream(healthy(FALLBACK));
  const entries = (role: Parameters<typeof slugOf>[0], url: string) =>
    entriesAt(url).map((entry) => ({ ...entry, slug: slugOf(role, SLUGS[entry.slug]!) }));
  const lines = new Map<string, AccessLine>();
  const logTo = {
    write(text: string): void {
      const line = JSON.parse(text) as Partial<AccessLine>;
      if (line.request_id !== undefined && line.route !== undefined) lines.set(line.request_id, line as AccessLine);
    },
  };
  const gateway = await startTestGateway(
    {
      server,
      catalog: {
        providers: [
          ...entries('primary', primary.url),
          ...entries('fallback', fallback.url),
          ...entries('refused', await closedPort()),
        ],
      },
      keys: { keys: [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}` }] },
      gateway: gatewayConfigs,
    },
    { logTo, ...options },
  );
  const { admin } = gateway.gateway;
  if (!admin) throw new Error('the gateway has no admin listener');
  let asked = 0;
  let scraped: Counters | undefined;
  const rig: Rig = {
    gateway,
    primary,
    fallback,
    ask: (ask) => rig.watch(ask, ({ done }) => done),
    async watch(ask, client) {
      const id = `fault-${(asked += 1)}`;
      primary.forget();
      fallback.forget();
      const before = (scraped ??= await rig.scrape());
      const open = call(gateway.url, { ...ask, headers: { 'x-request-id': id, ...ask.headers } });
      primary.setHeard(ask.held ? Promise.resolve() : open.firstBytes);
      const received = await client(open);
      // Access lines wait 5 ms for others. A clock that stands never ends that wait; a scrape does.
      while (options.clock && !lines.has(id)) await rig.scrape();
      await until(() => lines.has(id), `there is an access line of ${id}`);
      const after = (scraped = await rig.scrape());
      return {
        received,
        line: lines.get(id)!,
        record: await rig.record(id),
        primary: primary.visits,
        fallback: fallback.visits,
        gained: (name) => gained(before, after, name),
      };
    },
    lines: () => lines,
    async record(id) {
      const answer = await fetch(`${admin.url}/admin/v1/requests/${id}`);
      expect(answer.status, 'the record is there').toBe(200);
      return (await answer.json()) as DecisionRecord;
    },
    scrape: () => scrape(gateway.statusUrl),
    async close() {
      await gateway.close();
      await Promise.all([primary.close(), fallback.close()]);
    },
  };
  return rig;
}
