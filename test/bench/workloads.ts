/** What is measured: requests, gateways, and which gateway gets which requests in which run. */

export interface Workload {
  readonly title: string;
  /** Size of the request body in KB. */
  readonly kb: number;
  readonly stream: boolean;
  /** Port of the mock: 9001 JSON, 9002 a stream in one write, 9003 a stream with a write for each event. */
  readonly port: number;
  readonly connections: number;
  /** Least requests of a warm-up: a slow machine needs more CPU time until V8 has compiled the same code. */
  readonly warm: number;
  /** Requests of a burst: about a tenth of a second. */
  readonly burst: number;
}

export const WORKLOADS = {
  'json-1k': { title: '1 KB', kb: 1, stream: false, port: 9001, connections: 32, warm: 60_000, burst: 400 },
  'json-100k': { title: '100 KB', kb: 100, stream: false, port: 9001, connections: 32, warm: 20_000, burst: 200 },
  'json-1m': { title: '1 MB', kb: 1024, stream: false, port: 9001, connections: 8, warm: 2000, burst: 64 },
  'sse-once': {
    title: '200 events in one write',
    kb: 1,
    stream: true,
    port: 9002,
    connections: 32,
    warm: 20_000,
    burst: 200,
  },
  'sse-each': {
    title: '200 events, a write each',
    kb: 1,
    stream: true,
    port: 9003,
    connections: 16,
    warm: 2000,
    burst: 64,
  },
} as const satisfies Readonly<Record<string, Workload>>;

export type WorkloadId = keyof typeof WORKLOADS;
export const WORKLOAD_IDS = Object.keys(WORKLOADS) as readonly WorkloadId[];

/** In the order of their turns. */
export const TARGETS = {
  bare: 'bare proxy: `node:http` and undici',
  nginx: 'nginx',
  'gatehouse-openai': 'Gatehouse, same format',
  'gatehouse-anthropic': 'Gatehouse to Anthropic',
  'gatehouse-responses': 'Gatehouse to Anthropic, client of Responses',
  'gatehouse-gemini': 'Gatehouse to Gemini',
  'portkey-openai': 'Portkey 1.15.2, same format',
  'portkey-anthropic': 'Portkey 1.15.2 to Anthropic',
  'portkey-gemini': 'Portkey 1.15.2 to Gemini',
  before: 'the build in the folder of BENCH_BEFORE',
  'empty-entry': 'an empty plugin of the level `entry`',
  'empty-request': 'an empty plugin of the level `request`',
  'empty-attempt': 'an empty plugin of the level `attempt`',
  observe: 'a plugin that observes the texts of replies',
  texts: 'the example [mask](../plugins/examples/mask/index.js), without a match',
  mask: 'a plugin that masks a word in one event of eight',
  events: 'a plugin that reads the events of replies',
  pii: 'a guard `pii` that masks, on input and output',
  'keys-10k': '10,000 keys',
  'configs-5k': '5,000 configs, one of which is asked for',
  'headers-40': '40 headers more',
  metadata: 'metadata with four labels',
  'targets-10': 'a config that balances ten targets',
  'budgets-5': 'five budgets, SQLite, all threads',
} as const;

export type TargetId = keyof typeof TARGETS;
export const TARGET_IDS = Object.keys(TARGETS) as readonly TargetId[];

/** Gatehouse in the same format, with one plugin or guard more. */
export const WITH_PLUGIN = [
  'empty-entry',
  'empty-request',
  'empty-attempt',
  'observe',
  'texts',
  'mask',
  'events',
  'pii',
] as const satisfies readonly TargetId[];

/** Gatehouse in the same format, with more settings or a larger request. */
export const WITH_MORE = [
  'keys-10k',
  'configs-5k',
  'headers-40',
  'metadata',
  'targets-10',
  'budgets-5',
] as const satisfies readonly TargetId[];

export interface Run {
  readonly command: string;
  readonly rounds: number;
  /** CPU-seconds that a process burns on a workload before its window: V8 has compiled its code by then. */
  readonly warmUp: number;
  /** Windows of each client of those that are compared. */
  readonly turns: number;
  /**
   * A window is a burst of requests; otherwise it is a second of wrk, which can send more than a bare proxy can serve. From second to second,
   * neighbours of the machine change its speed by a fifth.
   */
  readonly bursts?: boolean;
  /** Most windows of one measurement, if other programs disturb them. */
  readonly tries: number;
  /** Whether the start of the packed install is measured too. */
  readonly starts: boolean;
  readonly targets: Readonly<Partial<Record<TargetId, readonly WorkloadId[]>>>;
  /** All ratios are to it. */
  readonly base: TargetId;
  /** A run whose ratio is larger fails. */
  readonly limits?: Readonly<Partial<Record<TargetId, Readonly<Partial<Record<WorkloadId, number>>>>>>;
}

const mapped = ['json-1k', 'sse-once', 'sse-each'] as const;
const plain = ['json-1k', 'sse-once'] as const;

export const RUNS = {
  quick: {
    command: 'npm run bench -- quick',
    rounds: 3,
    warmUp: 4,
    turns: 4,
    tries: 2,
    starts: false,
    base: 'bare',
    targets: {
      bare: ['json-1k', 'json-100k', 'sse-once'],
      nginx: ['json-1k'],
      'gatehouse-openai': ['json-1k', 'json-100k', 'sse-once'],
      'gatehouse-anthropic': ['json-1k'],
      'gatehouse-gemini': ['json-1k'],
      'portkey-openai': ['json-1k'],
    },
  },
  /** Two clients before the same upstream. */
  responses: {
    command: 'npm run bench -- responses',
    rounds: 5,
    warmUp: 8,
    turns: 6,
    tries: 2,
    starts: false,
    base: 'bare',
    targets: {
      bare: ['json-1k', 'sse-once'],
      'gatehouse-anthropic': ['json-1k', 'sse-once'],
      'gatehouse-responses': ['json-1k', 'sse-once'],
    },
  },
  whole: {
    command: 'npm run bench',
    rounds: 5,
    warmUp: 8,
    turns: 6,
    tries: 3,
    starts: true,
    base: 'bare',
    targets: {
      bare: WORKLOAD_IDS,
      nginx: WORKLOAD_IDS,
      'gatehouse-openai': WORKLOAD_IDS,
      'gatehouse-anthropic': mapped,
      'gatehouse-responses': mapped,
      'gatehouse-gemini': mapped,
      // On Node 24, Portkey 1.15.2 answers each stream with a 500 (TypeError: immutable).
      'portkey-openai': ['json-1k', 'json-100k', 'json-1m'],
      'portkey-anthropic': ['json-1k'],
      'portkey-gemini': ['json-1k'],
    },
  },
  /** Plugins and guards, beside Gatehouse without one. */
  plugins: {
    command: 'npm run bench -- plugins',
    rounds: 3,
    warmUp: 8,
    turns: 100,
    bursts: true,
    tries: 1,
    starts: false,
    base: 'gatehouse-openai',
    targets: {
      'gatehouse-openai': plain,
      before: plain,
      'empty-entry': ['json-1k'],
      'empty-request': ['json-1k'],
      'empty-attempt': ['json-1k'],
      observe: ['sse-once'],
      texts: ['sse-once'],
      mask: ['sse-once'],
      events: ['sse-once'],
      pii: ['sse-once'],
    },
    limits: {
      'empty-entry': { 'json-1k': 1.05 },
      'empty-request': { 'json-1k': 1.05 },
      'empty-attempt': { 'json-1k': 1.05 },
      texts: { 'sse-once': 1.5 },
      mask: { 'sse-once': 1.8 },
    },
  },
  /** More settings and larger requests, beside Gatehouse with few and small ones. */
  more: {
    command: 'npm run bench -- more',
    rounds: 3,
    warmUp: 8,
    turns: 100,
    bursts: true,
    tries: 1,
    starts: false,
    base: 'gatehouse-openai',
    targets: {
      'gatehouse-openai': ['json-1k'],
      'keys-10k': ['json-1k'],
      'configs-5k': ['json-1k'],
      'headers-40': ['json-1k'],
      metadata: ['json-1k'],
      'targets-10': ['json-1k'],
      'budgets-5': ['json-1k'],
    },
    limits: { 'budgets-5': { 'json-1k': 1.2 } },
  },
} as const satisfies Readonly<Record<string, Run>>;
